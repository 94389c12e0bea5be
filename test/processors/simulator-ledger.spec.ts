import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AuthorizeCall, ProcessorAdapter } from '../../libs/processors/port.js';
import { createSimulatorAdapter } from '../../libs/processors/simulator/simulator.adapter.js';
import { testCards } from '../../libs/processors/simulator/test-card.js';
import { freePort } from '../support/port.js';
import { eventually } from '../support/stack.js';
import { chargeOf, connectionWith, ledgerOf } from './running-simulator.js';

const main = resolve(process.env.SIGNALBOX_DIST ?? 'dist', 'apps/simulator/src/main.js');

describe('the simulator\'s ledger, through kill -9', () => {
  let folder: string;
  let ledger: string;
  let port: number;
  let url: string;
  let running: ChildProcess;
  let adapter: ProcessorAdapter;
  const connection = connectionWith();

  async function start(): Promise<void> {
    running = spawn(process.execPath, [main], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, SIMULATOR_PORT: String(port), SIMULATOR_LEDGER: ledger, SIMULATOR_SETTLE_MS: '300' },
    });
    await eventually(async () => (await fetch(`${url}/healthz`)).ok);
  }

  async function kill(): Promise<void> {
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  async function tokenise(number: string): Promise<string> {
    const card = { number, expMonth: 12, expYear: 2040, cvc: '987' };
    const made = await adapter.tokenise(connection, { reference: 'token', idempotencyKey: `token_${testCards.findIndex((known) => known.number === number)}`, source: { card } });
    return made.theirPaymentMethodId!;
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulator-'));
    ledger = join(folder, 'deep', 'ledger.ndjson');
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    adapter = createSimulatorAdapter({ baseUrl: url });
    await start();
  });

  afterAll(async () => {
    await adapter.close();
    await kill();
    await rm(folder, { recursive: true });
  });

  it('forgets nothing that it answered, and charges once when everything is sent again', async () => {
    const method = await tokenise('4242424242424242');
    const calls: AuthorizeCall[] = Array.from({ length: 200 }, () => chargeOf(method));
    let answered = 0;
    const sent = calls.map(async (call) => {
      const outcome = await adapter.authorize(connection, call);
      if (outcome.outcomeClass === 'approved') answered += 1;
      return outcome;
    });
    await eventually(() => answered >= 20, { intervalMs: 1 });
    await kill();
    const outcomes = await Promise.all(sent);
    await start();
    for (const [index, call] of calls.entries()) {
      const { payments } = await ledgerOf(url, call.reference);
      const { outcomeClass, processorPaymentId } = outcomes[index]!;
      expect(['approved', 'unknown', 'not_sent']).toContain(outcomeClass);
      if (outcomeClass === 'approved') expect(payments).toMatchObject([{ id: processorPaymentId, status: 'captured' }]);
      if (outcomeClass === 'not_sent') expect(payments).toHaveLength(0);
      expect((await adapter.authorize(connection, call)).outcomeClass).toBe('approved');
      expect((await ledgerOf(url, call.reference)).payments).toHaveLength(1);
    }
  }, 180_000);

  it('lets a pending payment settle although it died meanwhile', async () => {
    const call = chargeOf(await tokenise('4242424242424242'), { simulate: 'pending_then_approved' });
    expect((await adapter.authorize(connection, call)).outcomeClass).toBe('pending');
    await kill();
    await start();
    const settled = await eventually(async () => {
      const answer = await adapter.lookup(connection, { operation: 'authorize', ...call });
      return answer.found === 'yes' && answer.outcome.outcomeClass !== 'pending' && answer;
    });
    expect(settled).toMatchObject({ outcome: { outcomeClass: 'approved' } });
  });

  it('cuts off a line that was torn by the crash, and goes on', async () => {
    const call = chargeOf(await tokenise('4242424242424242'));
    await adapter.authorize(connection, call);
    await kill();
    const whole = await readFile(ledger, 'utf8');
    await appendFile(ledger, '{"seq":99999,"type":"paym');
    await start();
    expect(await readFile(ledger, 'utf8')).toBe(whole);
    expect((await ledgerOf(url, call.reference)).payments).toHaveLength(1);
  });

  it('holds no card number, expiry or CVC', async () => {
    for (const { number } of testCards) await tokenise(number);
    const text = await readFile(ledger, 'utf8');
    const written = testCards.filter(({ number }) => text.includes(number));
    expect(written).toEqual([]);
    expect(text.includes('"last4":"4242"')).toBe(true);
    for (const word of ['"cvc"', 'exp_month', 'exp_year', '"number"']) expect(text.includes(word)).toBe(false);
  });
});
