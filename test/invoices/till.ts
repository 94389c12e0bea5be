import type { Answer } from '../support/account.js';
import { cardOf, made, openShop, type LedgerPayment, type Shop, type ShopOptions } from '../payments/shop.js';
import { untilListed } from '../support/events.js';

/** A shop with things that are sold once, and a customer with a card. */
export interface Till extends Shop {
  /** 12.50 EUR and 3.00 EUR each. */
  desk: string;
  lamp: string;
  card: string;
}

export async function openTill(options: ShopOptions = {}): Promise<Till> {
  const shop = await openShop(options);
  const product = await made(shop.admin.post('/products/', { name: 'Desk', description: 'Furniture' }));
  const price = (unit_amount_atom: number, more: object = {}) =>
    made(shop.admin.post('/prices/', { product_id: product, price_type: 'one_time', pricing_model: 'standard', currency: 'eur', unit_amount_atom, is_active: true, ...more }));
  const [desk, lamp] = [await price(1_250), await price(300, { name: 'Lamp' })];
  const card = await cardOf(shop);
  await shop.admin.put(`/customers/${shop.customer}`, { default_payment_method_id: card });
  return { ...shop, desk, lamp, card };
}

export const one = (price_id: string, quantity = 1) => ({ selected_product_price_quantity: [{ price_id, quantity }] });
export const sent = { collection_method: 'send_invoice', finalize_invoice_immediately: true };
export const charged = { finalize_invoice_immediately: true };

export async function invoice(till: Till, body: object = {}): Promise<Answer['body']> {
  const answer = await till.admin.post('/invoices/', { customer_id: till.customer, ...one(till.desk), ...body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

export async function anotherCustomer(till: Till): Promise<string> {
  return made(till.admin.post('/customers/', { email: 'other@example.com', first_name: 'Grace', last_name: 'H' }));
}

/** Types of an object's events, oldest first. */
export async function told(till: Till, objectId: string): Promise<string[]> {
  await untilListed(till.admin);
  const { body } = await till.admin.get(`/events?object_id=${objectId}&limit=100`);
  return (body.data as { type: string; sequence: number }[]).sort((x, y) => x.sequence - y.sequence).map((event) => event.type);
}

export async function credit(till: Till, customer: string, amount_atom: number): Promise<void> {
  await made(till.admin.post(`/customers/${customer}/balance-transactions`, { amount_atom, currency: 'eur' }));
}

/** What the customer has to their credit, by the newest entry. */
export async function creditOf(till: Till, customer: string): Promise<number> {
  const { body } = await till.admin.get(`/customers/${customer}/balance-transactions`);
  return body[0]?.ending_balance_amount_atom ?? 0;
}

/** Payments at the provider that an invoice made and that kept money. */
export async function moneyOf(till: Till, invoiceId: string): Promise<LedgerPayment[]> {
  const response = await fetch(`${till.simulatorUrl}/ledger`);
  const { payments } = (await response.json()) as { payments: LedgerPayment[] };
  return payments.filter(({ reference, amount_captured, amount_refunded }) => reference.startsWith(invoiceId) && amount_captured > amount_refunded);
}
