import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSimulator } from '../../apps/simulator/src/simulator.js';
import type { AuthorizeCall, Connection } from '../../libs/processors/port.js';
import { createSimulatorAdapter } from '../../libs/processors/simulator/simulator.adapter.js';
import { publicId } from '../../libs/views/ids.js';
import { newId } from '../../libs/db/mint.js';

/** A simulator of one's own on a free port, with a ledger file of its own, and an adapter that talks to it. */
export async function runSimulator(settleMs = 150) {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  const ledgerFile = join(folder, 'ledger.ndjson');
  const app = await createSimulator({ ledgerFile, settleMs, secret: null, onLost: (error) => { throw error; } });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const adapter = createSimulatorAdapter({ baseUrl: url });
  return {
    url,
    ledgerFile,
    adapter,
    async close() {
      await adapter.close();
      await app.close();
      await rm(folder, { recursive: true });
    },
  };
}

export function connectionWith(settings: Record<string, unknown> = {}, totalMs = 2_000): Connection {
  const id = newId();
  return {
    id,
    publicId: publicId('processor', 'staging', id),
    kind: 'simulator',
    settings,
    credentials: null,
    deadlines: { connectMs: 1_000, totalMs },
  };
}

export function chargeOf(theirPaymentMethodId: string, more: Partial<AuthorizeCall> = {}): AuthorizeCall {
  const id = newId();
  return {
    reference: `pi_${id}_1`,
    idempotencyKey: `charge_${id}_1`,
    amountAtom: 2_500,
    currency: 'eur',
    capture: 'automatic',
    theirPaymentMethodId,
    offSession: false,
    ...more,
  };
}

export interface LedgerView {
  data: { type: string; outcome?: string }[];
  payments: { status: string; amount_captured: number; amount_authorized: number }[];
}

export async function ledgerOf(url: string, reference: string): Promise<LedgerView> {
  const answer = await fetch(`${url}/ledger?reference=${encodeURIComponent(reference)}`);
  return (await answer.json()) as LedgerView;
}
