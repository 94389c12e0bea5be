import { assets } from './assets.js';
import { html, type Html } from './html.js';

/** What the API answers: the markup, its status, and the headers that let nothing in but our own files. */
export interface Page {
  status: number;
  markup: string;
  headers: Record<string, string>;
}

export interface PageFrame {
  title: string;
  status: number;
  content: Html;
  /** Path prefix of the pages, for example `/pay`. */
  base: string;
  /** Where the form may lead after it was sent, besides this origin: origins such as `https://shop.example`. */
  formTargets?: readonly string[];
  /** Reload, or go to `url`, after so many seconds, also without JavaScript. */
  refresh?: { seconds: number; url?: string };
  testMode: boolean;
  headers?: Record<string, string>;
}

/** A whole page. Works without JavaScript; keeps nothing in caches; tells nobody where the visitor came from. */
export function renderPage(frame: PageFrame): Page {
  const { refresh, base } = frame;
  const markup = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
${refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}${refresh.url ? `;url=${refresh.url}` : ''}">`}
<title>${frame.title}</title>
<link rel="icon" href="${base}/assets/${assets.icon.name}" type="image/svg+xml">
<link rel="stylesheet" href="${base}/assets/${assets.stylesheet.name}">
<script src="${base}/assets/${assets.script.name}" defer></script>
</head>
<body>
${frame.testMode && html`<p class="test-mode"><strong>Test mode.</strong> No real money moves. Use a test card: <span>4242 4242 4242 4242</span></p>`}
<main>
${frame.content}
</main>
<footer>Payments by Signalbox</footer>
</body>
</html>
`.markup;
  return { status: frame.status, markup, headers: { ...pageHeaders(frame.formTargets ?? []), ...frame.headers } };
}

function pageHeaders(formTargets: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), browsing-topics=()',
  };
}
