import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import pg from 'pg';
import { watchAttention } from '../../libs/db/attention-watch.writes.js';
import { connect } from '../../libs/db/client.js';
import { cardOf, made, openShop, type Shop } from '../payments/shop.js';
import { openStore, subscribe, type Store } from '../subscriptions/store.js';
import { freshAccount, type Answer } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { Mailbox, smtpError } from './mailbox.js';

jest.setTimeout(180_000);

const mailbox = new Mailbox();
let stack: PrivateStack;
let shop: Shop;
let product: string;

beforeAll(async () => {
  await mailbox.start();
  const extra = {
    SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
    SMTP_FROM: 'billing@shop.example',
    EMAIL_RETRY_SCHEDULE: Array(60).fill('0.4').join(','),
    SUBSCRIPTION_JITTER_SECONDS: '0',
  };
  stack = await startStack({ extra });
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  shop = await openShop({ account, simulatorUrl: stack.simulator.url });
  product = await made(shop.admin.post('/products/', { name: 'Tea <& more>', description: 'A plan' }));
}, 180_000);
afterAll(async () => {
  await stack.stop();
  await mailbox.stop();
}, 180_000);
beforeEach(() => {
  mailbox.received = [];
  mailbox.refuse = () => null;
  mailbox.beforeAnswer = () => Promise.resolve();
});

/** Another customer of the shop, with a card. */
async function buyer(fields: object = {}, card?: string): Promise<Store & { email: string }> {
  const email = `buyer-${randomUUID()}@example.com`;
  const customer = await made(shop.admin.post('/customers/', { email, first_name: 'Ada', ...fields }));
  const own = { ...shop, customer, product };
  return { ...own, card: await cardOf(own, card), email };
}

const receipts = { invoice_settings: { email_receipt_on_paid: true } };

async function emailsOf({ admin, customer }: Pick<Store, 'admin' | 'customer'>, filter = ''): Promise<Answer['body'][]> {
  return (await admin.get(`/emails?customer_id=${customer}${filter}`)).body.data;
}

function becomes(store: Pick<Store, 'admin' | 'customer'>, kind: string, shape: object): Promise<Answer['body']> {
  return eventually(async () => {
    const [row] = await emailsOf(store, `&kind=${kind}`);
    expect(row).toMatchObject(shape);
    return row;
  }, { timeoutMs: 90_000 });
}

/** What each worker does every 10 s. */
async function watch(): Promise<void> {
  const database = connect(stack.databaseUrl, { max: 1 });
  await watchAttention(database.db).finally(() => database.close());
}

function sql(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  return client.connect().then(() => client.query(text, values)).finally(() => client.end());
}

describe('e-mails to customers', () => {
  it('sends a receipt with amounts, lines and a link, from the account\'s name, and escapes what people typed', async () => {
    await shop.admin.put('/account', { name: 'Tea Shop', email_settings: { sender_name: 'Tea, Ltd.', reply_to: 'help@shop.example' } });
    const store = await buyer({ ...receipts, first_name: 'Ada <script>alert(1)</script>', billing_email: `pay-${randomUUID()}@example.com` });
    const { answer } = await subscribe(store);
    const [invoice] = answer.body.invoices;
    const row = await becomes(store, 'receipt', { status: 'sent', invoice_id: invoice.id, attempts: 1, reason: null });
    const [{ mail, raw, to }] = mailbox.to(row.recipient) as [(typeof mailbox.received)[0]];
    expect(to).toHaveLength(1);
    expect(mail.from).toEqual({ name: 'Tea, Ltd.', address: 'billing@shop.example' });
    expect(mail.replyTo).toEqual([{ name: '', address: 'help@shop.example' }]);
    expect(mail.to).toEqual([{ name: '', address: row.recipient }]);
    expect(mail.messageId).toBe(row.message_id);
    expect(mail.subject).toBe(`Receipt from Tea Shop for invoice ${invoice.invoice_number}`);
    expect(row.subject).toBe(mail.subject);
    expect(mail.text).toContain('€12.00');
    expect(mail.text).toContain(invoice.hosted_invoice_url);
    expect(mail.html).toContain('Tea &lt;&amp; more&gt;');
    expect(mail.html).not.toContain('<script');
    expect(raw).not.toContain(shop.admin.token);
    expect((await shop.readOnly.get(`/emails/${row.id}`)).body).toEqual(row);
  });

  it('sends an invoice that the customer must pay, and none where the customer or the account does not want it', async () => {
    const store = await buyer();
    await subscribe(store, { collection_method: 'send_invoice', net_d: 14, payment_method_id: null });
    await becomes(store, 'invoice', { status: 'sent' });
    expect(mailbox.to(store.email)[0]!.mail.text).toContain('€12.00 are due on');
    await shop.admin.put('/account', { email_settings: { enabled_kinds: ['receipt'] } });
    const silent = await buyer();
    await subscribe(silent);
    await subscribe(silent, { collection_method: 'send_invoice', payment_method_id: null });
    const wanted = await buyer(receipts);
    await subscribe(wanted);
    await becomes(wanted, 'receipt', { status: 'sent' });
    expect(await emailsOf(silent)).toEqual([]);
    await shop.admin.put('/account', { email_settings: null });
  });

  it('tells of a trial that ends, of a payment that failed and of one that the customer must confirm', async () => {
    const trial_end = new Date(Date.now() + 12_000).toISOString();
    const [declined, challenged] = [await buyer({}, '4000000000000341'), await buyer({}, '4000002760003184')];
    await subscribe(declined, { trial_end });
    await subscribe(challenged, { trial_end });
    await becomes(declined, 'trial_ending', { status: 'sent', invoice_id: null });
    await becomes(declined, 'payment_failed', { status: 'sent' });
    const mails = mailbox.to(declined.email).map(({ mail }) => mail);
    const [failed, trial] = [mails.find(({ text }) => text?.includes('We will try again on')), mails.find(({ text }) => text?.includes('From then on'))];
    expect(trial!.text).toContain('From then on it costs €12.00 per month.');
    expect(failed!.text).toContain('We will try again on');
    expect(failed!.text).toMatch(/Pay or change the payment method: http.*\/pay\/invoices\//);
    const page = await fetch(/http\S+\/pay\/invoices\/\S+/.exec(failed!.text!)![0]);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('12.00')]);
    await becomes(challenged, 'action_needed', { status: 'sent' });
    expect(mailbox.to(challenged.email).at(-1)!.mail.subject).toMatch(/^Please confirm your payment/);
  });

  it('answers a preview without sending, and 422 where it is not said about what', async () => {
    const store = await buyer();
    const { answer, id } = await subscribe(store);
    const invoice_id = answer.body.invoices[0].id;
    const unwanted: Record<string, unknown> = {
      receipt: expect.stringContaining('email_receipt_on_paid'), invoice: expect.stringContaining('email_invoice_on_finalization'),
    };
    for (const kind of ['receipt', 'invoice', 'payment_failed', 'action_needed', 'reminder']) {
      const { status, body } = await shop.operator.post('/emails/preview', { kind, invoice_id });
      expect([kind, status, body.would_send, body.reason, body.recipient]).toEqual([kind, 200, false, unwanted[kind] ?? 'outdated: the invoice is paid.', store.email]);
      expect(body.html).toContain('</html>');
    }
    expect((await shop.admin.post('/emails/preview', { kind: 'trial_ending', subscription_id: id })).body).toMatchObject({ would_send: false, reason: 'outdated: the subscription is active.' });
    const trial = await subscribe(store, { trial_period_days: 5 });
    expect((await shop.admin.post('/emails/preview', { kind: 'trial_ending', subscription_id: trial.id })).body).toMatchObject({ would_send: true, reason: null });
    await shop.admin.put(`/customers/${store.customer}`, receipts);
    expect((await shop.admin.post('/emails/preview', { kind: 'receipt', invoice_id })).body).toMatchObject({ would_send: true, reason: null });
    expect((await shop.admin.post('/emails/preview', { kind: 'receipt' })).body.errors[0].loc).toEqual(['body', 'invoice_id']);
    expect((await shop.admin.post('/emails/preview', { kind: 'receipt', invoice_id: 'inv_stg_01h455vb4pex5vsknk084sn02q' })).status).toBe(422);
    expect(await emailsOf(store)).toEqual([]);
  });
});

describe('a server that does not take a mail', () => {
  it('is asked again after a 4xx, and not after a 5xx, whose reason is kept; it may be sent again by hand', async () => {
    let busy = 2;
    mailbox.refuse = () => (busy-- > 0 ? smtpError(451, 'try later') : null);
    const store = await buyer(receipts);
    await subscribe(store);
    await becomes(store, 'receipt', { status: 'sent', attempts: 3, reason: null });
    expect(mailbox.to(store.email)).toHaveLength(1);
    mailbox.refuse = () => smtpError(550, 'no such user');
    const gone = await buyer(receipts);
    await subscribe(gone);
    const failed = await becomes(gone, 'receipt', { status: 'failed', attempts: 1, next_attempt_at: null });
    expect(failed.reason).toContain('no such user');
    mailbox.refuse = () => null;
    const key = randomUUID();
    const again = await shop.operator.post(`/emails/${failed.id}/resend`, {}, { key });
    expect([again.status, again.body.status]).toEqual([201, 'pending']);
    expect((await shop.operator.post(`/emails/${failed.id}/resend`, {}, { key })).body.id).toBe(again.body.id);
    await eventually(async () => (await shop.admin.get(`/emails/${again.body.id}`)).body.status === 'sent');
    expect(mailbox.to(gone.email)).toHaveLength(1);
    expect((await shop.readOnly.post(`/emails/${failed.id}/resend`)).status).toBe(403);
  });

  it('gets everything once it is back, each mail once', async () => {
    await mailbox.stop();
    const store = await buyer(receipts);
    await subscribe(store);
    await subscribe(store);
    await eventually(async () => (await emailsOf(store, '&status=pending')).filter(({ attempts, reason }) => attempts > 1 && reason !== null).length === 2);
    await mailbox.start();
    await eventually(async () => (await emailsOf(store, '&status=sent')).length === 2);
    expect(mailbox.to(store.email)).toHaveLength(2);
  });

  it('gets a mail whose sender died before it knew once more, under the same Message-ID', async () => {
    let taken = false;
    let release = (): void => undefined;
    const store = await buyer(receipts);
    mailbox.beforeAnswer = () => {
      taken = true;
      return new Promise((resolve) => (release = resolve));
    };
    await subscribe(store);
    await eventually(() => taken);
    await stack.worker.kill9();
    release();
    mailbox.beforeAnswer = () => Promise.resolve();
    const { rows } = await sql("select status from emails where recipient = $1 and claim_until > clock_timestamp()", [store.email]);
    expect(rows).toEqual([{ status: 'pending' }]);
    await sql("update emails set claim_until = clock_timestamp() where recipient = $1", [store.email]);
    await stack.worker.restart();
    await becomes(store, 'receipt', { status: 'sent', attempts: 2 });
    const mails = mailbox.to(store.email).map(({ mail }) => mail.messageId);
    expect(mails).toHaveLength(2);
    expect(new Set(mails).size).toBe(1);
  });

  it('is on the attention list after an hour, until the mails are through', async () => {
    mailbox.refuse = () => smtpError(421, 'busy');
    const store = await buyer(receipts);
    await subscribe(store);
    await becomes(store, 'receipt', { status: 'pending', reason: expect.stringContaining('busy') });
    await sql("update emails set created_at = created_at - interval '61 minutes' where recipient = $1", [store.email]);
    const open = async () => (await shop.admin.get('/attention?status=open&type=emails_failing')).body.data;
    await watch();
    expect((await open()).map(({ object_id: object }: Answer['body']) => object)).toEqual([shop.publicId]);
    mailbox.refuse = () => null;
    await becomes(store, 'receipt', { status: 'sent' });
    await watch();
    expect(await open()).toEqual([]);
  });
});

describe('an installation without a server', () => {
  it('says in the row and in the preview that nothing is sent', async () => {
    const store = await openStore();
    await store.admin.put(`/customers/${store.customer}`, receipts);
    const { answer } = await subscribe(store, {}, { unit_amount_atom: 500 });
    const row = await becomes(store, 'receipt', { status: 'not_sent', reason: expect.stringContaining('SMTP_URL'), attempts: 0 });
    const preview = await store.admin.post('/emails/preview', { kind: 'receipt', invoice_id: answer.body.invoices[0].id });
    expect(preview.body).toMatchObject({ would_send: false, reason: expect.stringContaining('SMTP_URL') });
    expect((await store.admin.post(`/emails/${row.id}/resend`)).body).toMatchObject({ status: 'not_sent', reason: expect.stringContaining('SMTP_URL') });
  });
});
