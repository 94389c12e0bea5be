import { randomInt } from 'node:crypto';
import type { Answer } from '../support/account.js';
import { made, openShop, type LedgerPayment, type Shop, type ShopOptions } from '../payments/shop.js';
import { untilListed } from '../support/events.js';

export interface LinkShop extends Shop {
  /** One-time prices of one product: 12.50 EUR and 3.00 EUR. */
  big: string;
  small: string;
}

export async function openLinkShop(options: ShopOptions = {}): Promise<LinkShop> {
  const shop = await openShop(options);
  const product = await made(shop.admin.post('/products/', { name: 'Field notes', description: 'A notebook' }));
  const price = (amount: number, more: object = {}) =>
    made(shop.admin.post('/prices/', { product_id: product, price_type: 'one_time', pricing_model: 'standard', currency: 'eur', unit_amount_atom: amount, is_active: true, ...more }));
  return { ...shop, big: await price(1_250), small: await price(300, { name: 'Pencil' }) };
}

export async function newLink(shop: LinkShop, more: object = {}): Promise<Answer['body']> {
  const { status, body, text } = await shop.admin.post('/payment-link/', {
    mode: 'payment', success_url: null, line_items: [{ price_id: shop.big, quantity: 2 }, { price_id: shop.small, quantity: 1 }], ...more,
  });
  if (status !== 201) throw new Error(text);
  return body;
}

/** Payments at the provider that a link made and that kept money. */
export async function moneyOf(shop: LinkShop, linkId: string): Promise<LedgerPayment[]> {
  const response = await fetch(`${shop.simulatorUrl}/ledger`);
  const { payments } = (await response.json()) as { payments: LedgerPayment[] };
  return payments.filter(({ reference, amount_captured, amount_refunded }) => reference.startsWith(linkId) && amount_captured > amount_refunded);
}

/** Types of an object's events, oldest first. */
export async function eventsOf(shop: LinkShop, objectId: string): Promise<string[]> {
  await untilListed(shop.admin);
  const { body } = await shop.admin.get(`/events?object_id=${objectId}&limit=100`);
  return (body.data as { type: string; sequence: number }[]).sort((x, y) => x.sequence - y.sequence).map((event) => event.type);
}

/** The payments of a link, oldest first. */
export async function intentsOf(shop: LinkShop, linkId: string): Promise<Answer['body'][]> {
  const { body } = await shop.admin.post('/payment-intents/list', { page_size: 100 });
  return (body.data as Answer['body'][]).filter((intent) => intent.payment_link_id === linkId);
}

export interface Seen {
  status: number;
  headers: Headers;
  location: string | null;
  markup: string;
}

export const goodForm = { email: 'ada@example.com', name: 'Ada Lovelace', number: '4242 4242 4242 4242', expiry: '12 / 40', cvc: '123' };
export type TypedForm = typeof goodForm;

/** A person with a browser of the plainest kind: cookies, no JavaScript, an address of its own. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  private hidden: Record<string, string> = {};

  constructor(
    readonly url: string,
    readonly address = randomAddress(),
    private readonly keepsCookies = true,
  ) {}

  async open(url = this.url): Promise<Seen> {
    return this.send(url, {});
  }

  /** Fills in the form of the page that was seen last. */
  async pay(typed: Partial<TypedForm> = {}): Promise<Seen> {
    const body = new URLSearchParams({ ...this.hidden, ...goodForm, ...typed }).toString();
    return this.send(this.url, { method: 'POST', body });
  }

  /** Follows redirects inside the pages until there is one that leads elsewhere, or a page that does not move. */
  async follow(seen: Seen): Promise<Seen> {
    let current = seen;
    for (let step = 0; step < 20 && current.status === 303; step += 1) {
      const next = new URL(current.location!, this.url);
      if (next.origin !== new URL(this.url).origin) return current;
      current = await this.open(next.href);
    }
    return current;
  }

  private async send(url: string, init: RequestInit): Promise<Seen> {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': this.address,
        ...(this.cookies.size === 0 ? {} : { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...(init.body ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
    });
    for (const line of this.keepsCookies ? response.headers.getSetCookie() : []) {
      const [name, value] = line.split(';')[0]!.split('=', 2) as [string, string];
      this.cookies.set(name, value);
    }
    const markup = await response.text();
    const inputs = [...markup.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
    if (inputs.length > 0) this.hidden = Object.fromEntries(inputs.map(([, name, value]) => [name!, value!]));
    return { status: response.status, headers: response.headers, location: response.headers.get('location'), markup };
  }
}

/** Opens the page and sends its form once. */
export async function payOnce(url: string, typed: Partial<TypedForm> = {}, address?: string): Promise<{ visitor: Visitor; seen: Seen }> {
  const visitor = new Visitor(url, address);
  await visitor.open();
  return { visitor, seen: await visitor.pay(typed) };
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
}
