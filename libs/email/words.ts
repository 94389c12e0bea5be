import type { EmailKind } from '../domain/email/email.js';
import { english } from './words.en.js';

/**
 * One kind's words, Mustache over the fields of `EmailModel`. A paragraph that renders to nothing is left out, so a section
 * around it is its condition.
 */
export interface EmailWords {
  subject: string;
  heading: string;
  paragraphs: readonly string[];
  /** On the link to the invoice, where there is one. */
  button: string | null;
  showsLines: boolean;
}

/** By the customer's language; the languages that have words of their own are listed here. */
export function wordsOf(_language: string | null, kind: EmailKind): EmailWords {
  return english[kind];
}
