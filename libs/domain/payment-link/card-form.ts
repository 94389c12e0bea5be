/** What a visitor typed, as the browser sent it. */
export interface PayForm {
  email: string;
  name: string;
  number: string;
  expiry: string;
  cvc: string;
}

export type PayField = keyof PayForm;
export type FieldMessages = Partial<Record<PayField, string>>;

export interface PayerInput {
  email: string;
  firstName: string;
  lastName: string | null;
}

export interface CardFormInput {
  /** Digits only. */
  number: string;
  expMonth: number;
  /** Four digits. */
  expYear: number;
  cvc: string;
}

export type PayFormReading =
  | { ok: true; card: CardFormInput; payer: PayerInput | null }
  | { ok: false; messages: FieldMessages };

export interface ReadingOptions {
  /** False where the link names its customer. */
  asksPayer: boolean;
  now: Date;
}

const longestEmail = 254;
const longestName = 120;
const yearsAhead = 25;

/** Reads the form, or says at each field in plain words what is wrong with it. Never repeats what was typed. */
export function readPayForm(form: PayForm, { asksPayer, now }: ReadingOptions): PayFormReading {
  const messages: FieldMessages = {};
  const payer = asksPayer ? readPayer(form, messages) : null;
  const number = readNumber(form.number, messages);
  const expiry = readExpiry(form.expiry, now, messages);
  const cvc = readCvc(form.cvc, number, messages);
  if (Object.keys(messages).length > 0 || !expiry) return { ok: false, messages };
  return { ok: true, payer, card: { number, expMonth: expiry.month, expYear: expiry.year, cvc } };
}

function readPayer(form: PayForm, messages: FieldMessages): PayerInput {
  const email = form.email.trim();
  const name = form.name.trim().replace(/\s+/gu, ' ');
  if (email === '') messages.email = 'Enter your e-mail address.';
  else if (email.length > longestEmail || !isEmail(email)) messages.email = 'Enter an e-mail address like name@example.com.';
  if (name === '') messages.name = 'Enter your name.';
  else if (name.length > longestName || hasControl(name)) messages.name = `Enter a name of at most ${longestName} letters.`;
  const space = name.lastIndexOf(' ');
  return space < 0 ? { email, firstName: name, lastName: null } : { email, firstName: name.slice(0, space), lastName: name.slice(space + 1) };
}

function isEmail(text: string): boolean {
  return /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+\.[^\s@<>()[\]\\,;:".]{2,}$/u.test(text) && !text.includes('..') && !hasControl(text);
}

function hasControl(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text);
}

function readNumber(typed: string, messages: FieldMessages): string {
  const number = typed.replace(/[\s-]/gu, '');
  if (number === '') messages.number = 'Enter your card number.';
  else if (!/^\d{12,19}$/.test(number)) messages.number = 'A card number has 12 to 19 digits.';
  else if (!passesLuhn(number)) messages.number = 'This card number is not valid. Check it for a typing mistake.';
  return number;
}

/** The check digit of ISO/IEC 7812-1. */
export function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let place = 0; place < number.length; place += 1) {
    const digit = Number(number[number.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function readExpiry(typed: string, now: Date, messages: FieldMessages): { month: number; year: number } | null {
  const text = typed.replace(/\s/gu, '');
  if (text === '') {
    messages.expiry = 'Enter the expiry date.';
    return null;
  }
  const [, monthText, yearText] = /^(\d{1,2})[/.-]?(\d{2}|\d{4})$/.exec(text) ?? [];
  const month = Number(monthText);
  if (monthText === undefined || yearText === undefined || month < 1 || month > 12) {
    messages.expiry = 'Enter the expiry date as month and year, for example 04/30.';
    return null;
  }
  const year = yearText.length === 4 ? Number(yearText) : 2000 + Number(yearText);
  if (Date.UTC(year, month, 1) <= now.getTime()) messages.expiry = 'This card has expired. Use another card.';
  else if (year > now.getUTCFullYear() + yearsAhead) messages.expiry = 'Check the year of the expiry date.';
  return { month, year };
}

function readCvc(typed: string, number: string, messages: FieldMessages): string {
  const cvc = typed.trim();
  const american = /^3[47]/.test(number);
  if (cvc === '') messages.cvc = 'Enter the security code.';
  else if (!/^\d{3,4}$/.test(cvc) || (american && cvc.length !== 4) || (!american && cvc.length !== 3)) {
    messages.cvc = american ? 'The security code has 4 digits, on the front of the card.' : 'The security code has 3 digits, on the back of the card.';
  }
  return cvc;
}
