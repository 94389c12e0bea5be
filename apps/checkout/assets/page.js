// Comfort only: the page does everything without it.
const form = document.querySelector('form[data-pay]');
if (form) enhance(form);

function enhance(form) {
  const number = form.elements.namedItem('number');
  const expiry = form.elements.namedItem('expiry');
  const button = form.querySelector('button');
  const label = button.querySelector('span');
  const words = label.textContent;
  let sent = false;

  number.addEventListener('input', () => reformat(number, groupNumber));
  expiry.addEventListener('input', (event) => {
    if (!event.inputType?.startsWith('delete')) reformat(expiry, splitExpiry);
  });
  form.addEventListener('input', ({ target }) => show(target, ''));

  form.addEventListener('submit', (event) => {
    if (sent) {
      event.preventDefault();
      return;
    }
    const wrong = [...form.querySelectorAll('.field input')].map((input) => ({ input, message: messageFor(input) })).filter(({ message }) => message);
    if (wrong.length > 0) {
      event.preventDefault();
      summarise(form, wrong);
      return;
    }
    sent = true;
    button.setAttribute('aria-disabled', 'true');
    label.textContent = label.dataset.busy;
  });

  addEventListener('pageshow', () => {
    sent = false;
    button.removeAttribute('aria-disabled');
    label.textContent = words;
  });
}

function summarise(form, wrong) {
  for (const input of form.querySelectorAll('.field input')) show(input, wrong.find((entry) => entry.input === input)?.message ?? '');
  const box = document.getElementById('problem');
  box.querySelectorAll('p').forEach((paragraph) => paragraph.remove());
  document.getElementById('problem-title').textContent = 'Check what you entered';
  document.getElementById('problem-list').replaceChildren(...wrong.map(({ input, message }) => {
    const link = document.createElement('a');
    link.href = `#${input.id}`;
    link.textContent = message;
    const line = document.createElement('li');
    line.append(link);
    return line;
  }));
  box.hidden = false;
  box.focus();
}

function show(input, message) {
  const error = document.getElementById(`${input.id}-error`);
  if (!error) return;
  error.textContent = message;
  if (message) input.setAttribute('aria-invalid', 'true');
  else input.removeAttribute('aria-invalid');
}

function messageFor(input) {
  if (input.value.trim() === '') return input.dataset.empty;
  return (checks[input.name]?.(input.value) ?? true) ? '' : input.dataset.wrong;
}

const checks = {
  email: (text) => /^\S+@\S+\.\S{2,}$/.test(text.trim()),
  number: (text) => {
    const digits = text.replace(/[\s-]/g, '');
    return /^\d{12,19}$/.test(digits) && passesLuhn(digits);
  },
  expiry: (text) => /^(0?[1-9]|1[0-2])\s*[/.-]?\s*(\d{2}|\d{4})$/.test(text.trim()),
  cvc: (text) => /^\d{3,4}$/.test(text.trim()),
};

function passesLuhn(digits) {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Rewrites what was typed and keeps the caret behind the same digit. */
function reformat(input, format) {
  const digitsBefore = input.value.slice(0, input.selectionStart).replace(/\D/g, '').length;
  const atEnd = input.selectionStart === input.value.length;
  const next = format(input.value);
  if (next === input.value) return;
  input.value = next;
  let at = next.length;
  if (!atEnd) {
    at = 0;
    for (let seen = 0; at < next.length && seen < digitsBefore; at += 1) if (/\d/.test(next[at])) seen += 1;
  }
  input.setSelectionRange(at, at);
}

function groupNumber(text) {
  const digits = text.replace(/\D/g, '').slice(0, 19);
  const groups = /^3[47]/.test(digits) ? [4, 6, 5] : [4, 4, 4, 4, 3];
  const parts = [];
  let from = 0;
  for (const size of groups) {
    if (from >= digits.length) break;
    parts.push(digits.slice(from, from + size));
    from += size;
  }
  return parts.join(' ');
}

function splitExpiry(text) {
  const digits = text.replace(/\D/g, '').slice(0, 6);
  if (/^[2-9]$/.test(digits)) return `0${digits} / `;
  if (digits.length < 2) return digits;
  return `${digits.slice(0, 2)} / ${digits.slice(2)}`;
}
