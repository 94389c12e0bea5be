import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { subscriptions } from '../../libs/db/schema/index.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

describe('detaching a method', () => {
  let account: TestAccount;
  let database: Database;

  beforeAll(async () => {
    account = await freshAccount();
    database = connect(shared.databaseUrlStaging, { max: 1 });
    await account.admin.post('/payment-processors/', { name: 'A', kind: 'simulator' });
  });

  afterAll(async () => database.close());

  async function attachedMethod(customer: string): Promise<string> {
    const card = { number: '4242424242424242', exp_month: 12, exp_year: 2040, cvc: '123' };
    const { id } = (await account.operator.post('/payment-methods/', { card })).body;
    expect((await account.operator.post(`/payment-methods/${id}/attach`, { customer_id: customer })).status).toBe(200);
    return id;
  }

  async function subscription(customer: string, method: string | null, status: 'active' | 'cancelled' = 'active'): Promise<string> {
    const id = newId();
    const at = new Date();
    await database.db.insert(subscriptions).values({
      id, accountId: account.id, customerId: parsePublicId('cus', 'staging', customer)!, status, billingStatus: status === 'active' ? 'current' : null,
      name: 'Plan', currency: 'eur', billingInterval: 'month', billingIntervalCount: 1, anchorAt: at, currentPeriodStart: at, currentPeriodEnd: at,
      initialStart: at, collectionMethod: 'charge_automatically', defaultPaymentMethodId: method && parsePublicId('pm', 'staging', method), createdAt: at, updatedAt: at,
    });
    return id;
  }

  it('tells each living subscription that relied on it, its own or by the customer\'s default, and no other', async () => {
    const address = { line1: 'Street 1', city: 'Town', state: 'XX', zip_code: '12345', country: 'DE' };
    const customer = (await account.operator.post('/customers/', { email: 'a@example.com', first_name: 'A', last_name: 'B', ...address })).body.id;
    const [method, other] = [await attachedMethod(customer), await attachedMethod(customer)];
    const changed = await account.operator.put(`/customers/${customer}`, { default_payment_method_id: method });
    expect(changed.body.default_payment_method_id).toBe(method);
    const told = [await subscription(customer, method), await subscription(customer, null)];
    const untold = [await subscription(customer, other), await subscription(customer, method, 'cancelled')];

    expect((await account.operator.post(`/payment-methods/${method}/detach`)).status).toBe(200);
    const { rows } = await database.pool.query('select object_id as id, sequence, data::json ->> \'object\' as object from events where account_id = $1 and type = $2', [
      account.id, 'customer.subscription.payment_method_detached',
    ]);
    expect(rows).toHaveLength(2);
    expect(rows).toEqual(expect.arrayContaining(told.map((id) => ({ id, sequence: 1, object: 'subscription' }))));
    const silent = await database.pool.query('select 1 from events where object_id = any($1)', [untold]);
    expect(silent.rows).toEqual([]);
  });
});
