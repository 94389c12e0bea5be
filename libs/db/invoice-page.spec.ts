import { hostedInvoiceUrl, invoicePageToken, readInvoicePageToken } from './invoice-page.js';

const key = Buffer.alloc(32, 7);
const id = '0190b9a0-0000-7000-8000-000000000001';

describe('the token of an invoice\'s page', () => {
  it('opens the one invoice that it was made for', () => {
    const token = invoicePageToken(id, key);
    expect(readInvoicePageToken(token, key)).toBe(id);
    expect(readInvoicePageToken(token, Buffer.alloc(32, 8))).toBeNull();
    expect(hostedInvoiceUrl({ publicUrl: 'https://pay.example', tokenKey: key }, { id, finalizedAt: new Date() })).toBe(`https://pay.example/pay/invoices/${token}`);
    expect(hostedInvoiceUrl({ publicUrl: 'https://pay.example', tokenKey: key }, { id, finalizedAt: null })).toBeNull();
  });

  it('cannot be changed or made up', () => {
    const token = invoicePageToken(id, key);
    const signature = token.split('.')[1]!;
    for (const wrong of ['', 'x', `${'A'.repeat(22)}.${signature}`, `${token}A`, token.slice(0, -1), `.${signature}`]) expect(readInvoicePageToken(wrong, key)).toBeNull();
  });
});
