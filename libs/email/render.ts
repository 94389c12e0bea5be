import Mustache from 'mustache';
import type { EmailModel } from './email.model.js';
import { htmlLayout, textLayout } from './layout.js';
import { wordsOf } from './words.js';

export interface RenderedEmail {
  /** One line, without control characters. */
  subject: string;
  html: string;
  text: string;
}

const subjectLength = 200;

/** The mail of the model, in the customer's language. Values are escaped in HTML and are one line each. */
export function renderEmail(model: EmailModel): RenderedEmail {
  const words = wordsOf(model.language, model.kind);
  const values = inLines(model) as EmailModel;
  const plain = (template: string) => Mustache.render(template, values, {}, { escape: String }).trim();
  const view = {
    heading: plain(words.heading),
    paragraphs: words.paragraphs.map(plain).filter((paragraph) => paragraph !== ''),
    lines: words.showsLines ? values.lines : [],
    hasLines: words.showsLines && values.lines.length > 0,
    total: values.total,
    link: words.button === null ? null : values.link,
    button: words.button,
    account: values.account,
  };
  return {
    subject: oneLine(plain(words.subject)).replace(/ {2,}/g, ' ').slice(0, subjectLength),
    html: Mustache.render(htmlLayout, view),
    text: Mustache.render(textLayout, view, {}, { escape: String }).replace(/\n{3,}/g, '\n\n').trim() + '\n',
  };
}

/** Line breaks and other control characters become spaces, so that no value opens a header, a line or a paragraph of its own. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

function inLines(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value);
  if (Array.isArray(value)) return value.map(inLines);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inLines(inner)]));
}
