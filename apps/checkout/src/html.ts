/** Text that is already safe markup. Only `html` makes it. */
export class Html {
  constructor(readonly markup: string) {}

  toString(): string {
    return this.markup;
  }
}

type Value = Html | string | number | null | undefined | false | readonly Html[];

/** Markup in which every value is escaped, in text and in quoted attributes alike; null, undefined and false are left out. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((markup, part, index) => markup + rendered(values[index - 1]) + part));
}

function rendered(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map((each) => each.markup).join('');
  return escaped(String(value));
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

function escaped(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => entities[character]!);
}
