import { Injectable } from '@nestjs/common';
import { and, eq, inArray, isNull, or, type SQL } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import type { Db } from '../../../../libs/db/client.js';
import { readCustomer, readCustomerTotals } from '../../../../libs/db/customer.queries.js';
import { createCustomer, deleteCustomer, updateCustomer, type CustomerFields } from '../../../../libs/db/customer.writes.js';
import { equals, matching } from '../../../../libs/db/list.queries.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { customers, type CustomerRow } from '../../../../libs/db/schema/index.js';
import type { Address } from '../../../../libs/db/schema/customer.table.js';
import { findTestClock } from '../../../../libs/db/test-clock.queries.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import { customerWithTotalsView } from '../../../../libs/views/customer.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type { CreateCustomerBody, CustomersQuery, ListCustomersBody, UpdateCustomerBody } from './customers.dto.js';

const addressKeys = ['line1', 'line2', 'line3', 'city', 'state', 'zip_code', 'country'] as const;
const noAddress: Address = { line1: null, line2: null, line3: null, city: null, state: null, zip_code: null, country: null };

@Injectable()
export class CustomersService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateCustomerBody) {
    if (body.default_payment_method_id) throw unknownReference('default_payment_method_id', 'pm');
    const testClockId = await this.testClockOf(caller, body.test_clock_id);
    const fields = { address: noAddress, ...fieldsOf(caller, body, null), email: body.email, testClockId };
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => createCustomer(tx, caller.change(), { id: caller.objectId(), fields }));
    return this.get(caller, publicId('cus', caller.environment, row.id));
  }

  async get(caller: Caller, id: string) {
    const found = await readCustomer(this.infrastructure.db, caller.accountId, pathId('cus', id, caller));
    if (!found) throw notFound('customer');
    return customerWithTotalsView(found.row, found.totals, this.infrastructure.environment);
  }

  async update(caller: Caller, id: string, body: UpdateCustomerBody) {
    const customerId = pathId('cus', id, caller);
    const row = await transact(this.infrastructure.db, caller.change(), (tx) =>
      updateCustomer(tx, caller.change(), { id: customerId, patch: (before) => fieldsOf(caller, body, before.address) }));
    return this.get(caller, publicId('cus', caller.environment, row.id));
  }

  async delete(caller: Caller, id: string) {
    const customerId = pathId('cus', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: customerId, step: 'delete' }, async () => {
        await deleteCustomer(tx, caller.change(), customerId);
        return true;
      }));
    return { customer_id: id, message: 'Customer deleted.' };
  }

  async list(caller: Caller, body: ListCustomersBody) {
    const nothing: SQL[] = body.coupon_id ? [eq(customers.id, '00000000-0000-0000-0000-000000000000')] : [];
    return composedList(this.infrastructure.db, customers, body, {
      where: [
        ...this.own(caller),
        ...equals(customers.email, body.email),
        ...(body.emails.length > 0 ? [inArray(customers.email, body.emails)] : []),
        ...searchOf(body),
        ...nothing,
      ],
      sorts: { email: customers.email },
      views: (db, rows) => this.showAll(db, rows),
    });
  }

  async browse(caller: Caller, query: CustomersQuery) {
    const where = [...this.own(caller), ...equals(customers.email, query.email)];
    return composedPage(this.infrastructure.db, customers, query, { where, views: (db, rows) => this.showAll(db, rows) });
  }

  private async testClockOf(caller: Caller, id: string | null | undefined): Promise<string | null> {
    if (!id) return null;
    if (caller.environment !== 'staging') throw invalidField('test_clock_id', 'Test clocks exist in staging only', 'staging_only');
    const row = await findTestClock(this.infrastructure.db, caller.accountId, bodyId('test_clock_id', 'clock', id, caller));
    if (!row) throw unknownReference('test_clock_id', 'clock');
    return row.id;
  }

  private own(caller: Caller): SQL[] {
    return [eq(customers.accountId, caller.accountId), isNull(customers.deletedAt)];
  }

  private async showAll(db: Db, rows: CustomerRow[]) {
    const totals = await readCustomerTotals(db, rows.map((row) => row.id));
    return rows.map((row) => customerWithTotalsView(row, totals.get(row.id)!, this.infrastructure.environment));
  }
}

function searchOf({ search }: ListCustomersBody): SQL[] {
  const columns = [customers.email, customers.firstName, customers.lastName, customers.businessName];
  const either = or(...columns.map((column) => and(...matching(column, search))).filter((condition) => condition !== undefined));
  return either ? [either] : [];
}

type Written = Omit<UpdateCustomerBody, 'email'> & { email?: string | null };

/** The columns that a body sets: absent stays, null clears. */
function fieldsOf(caller: Caller, body: Written, address: Address | null): Partial<CustomerFields> {
  if (body.coupon_id) throw unknownReference('coupon_id', 'coupon');
  if (body.promotion_code_id) throw unknownReference('promotion_code_id', 'promo');
  const method = body.default_payment_method_id;
  const fields: Partial<CustomerFields> = {
    email: body.email ?? undefined,
    billingEmail: body.billing_email,
    firstName: body.first_name,
    lastName: body.last_name,
    businessName: body.business_name,
    phoneNumber: body.phone_number,
    notes: body.notes,
    language: body.language,
    address: addressKeys.some((key) => body[key] !== undefined) ? mergeAddress(address ?? noAddress, body) : undefined,
    billingAddress: body.customer_billing_address && mergeAddress(noAddress, body.customer_billing_address),
    shippingAddresses: body.shipping_addresses === null ? [] : body.shipping_addresses?.map((one) => mergeAddress(noAddress, one)),
    invoiceSettings: body.invoice_settings,
    customFields: body.custom_fields,
    metadata: body.metadata,
    defaultPaymentMethodId: method ? bodyId('default_payment_method_id', 'pm', method, caller) : method,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function mergeAddress(before: Address, given: Partial<Address>): Address {
  const merged = { ...before };
  for (const key of addressKeys) if (given[key] !== undefined) merged[key] = given[key];
  return merged;
}
