import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from '../../libs/db/client.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { commandsOf, firstCommands } from '../support/readme.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';

/** A person at a terminal. */
class Terminal {
  private output = '';
  private ended = false;
  private typed = 0;

  constructor(private readonly shell: ChildProcess) {
    for (const stream of [shell.stdout, shell.stderr]) stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    shell.once('close', () => (this.ended = true));
  }

  /** What the commands printed: a value per line that is JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async type(commands: string): Promise<any[]> {
    const from = this.output.length;
    const end = `the end of ${++this.typed}`;
    this.shell.stdin!.write(`${commands}\necho '${end}'\n`);
    await eventually(() => this.ended || this.output.includes(end), { timeoutMs: 45_000 });
    if (this.ended) throw new Error(`the shell has ended:\n${this.output}`);
    return this.output.slice(from).split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  }

  close(): void {
    this.shell.kill();
  }
}

let account: TestAccount;
let receiver: Receiver;
let terminal: Terminal;

beforeEach(async () => {
  [account, receiver] = await Promise.all([freshAccount(), openReceiver(status(500, { 'content-type': 'text/plain' }))]);
  terminal = new Terminal(spawn('bash', ['-e', '-o', 'pipefail']));
});
afterEach(async () => {
  terminal.close();
  await receiver.close();
});

const customers = (count: number) => Promise.all(Array.from({ length: count }, async (_, index) => {
  const made = await account.admin.post('/customers/', { email: `c${index}.${Math.random()}@example.com` });
  expect(made.status).toBe(201);
}));

/** The receiver was down for longer than the first retries. */
async function nextAttemptsInAnHour(endpoint: string): Promise<void> {
  const { pool, close } = connect(shared.databaseUrlStaging, { max: 1 });
  await pool.query("update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where endpoint_id = $1 and status = 'pending'", [parsePublicId('webhook_endpoint', 'staging', endpoint)]);
  await close();
}

it('the root README: "we did not get the webhook" is answered and mended when its commands are run as they stand', async () => {
  const [preparation, ...steps] = commandsOf('What an operator sees').split(/^(?=# \d\. )/m);
  expect(steps).toHaveLength(7);
  const [happened, sent, said, again, failed, missed, giveUp] = steps as [string, string, string, string, string, string, string];
  const { body: endpoint } = await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.created'] });
  const verb = async (name: string) => expect((await account.admin.post(`/webhook-endpoints/${endpoint.id}/${name}`)).status).toBe(200);
  await verb('pause');
  await terminal.type(firstCommands(account.admin));
  await customers(2);
  await verb('resume');
  await eventually(async () => {
    const deliveries = (await account.readOnly.get('/webhook-deliveries')).body.data as { attempts: number }[];
    return deliveries.length === 3 && deliveries.every(({ attempts }) => attempts > 0);
  });
  await nextAttemptsInAnHour(endpoint.id);
  await terminal.type(preparation!);

  const [events] = await terminal.type(happened);
  const customer = events.data.at(-1);
  expect(customer.type).toBe('customer.created');
  expect(await terminal.type(sent)).toMatchObject([{ data: [{ event_id: customer.id, endpoint_id: endpoint.id, status: 'pending', waiting_for: 'back_off' }] }]);
  const [attempts] = await terminal.type(said);
  expect(attempts.data.at(-1)).toMatchObject({ event_id: customer.id, succeeded: false, response_code: 500, error_detail: 'The receiver answered 500.' });

  receiver.answer = status(200);
  receiver.received.length = 0;
  expect(await terminal.type(again)).toMatchObject([{ event_id: customer.id, status: 'delivered', result: { response_code: 200 } }]);
  expect(receiver.ids()).toEqual([customer.id]);
  const job = { endpoint_id: endpoint.id, status: 'completed', undelivered: 0 };
  expect(await terminal.type(failed)).toMatchObject([{ ...job, kind: 'resend_failed', total: 2, delivered: 2 }]);
  expect(new Set(receiver.ids()).size).toBe(3);

  await verb('disable');
  await customers(4);
  await verb('enable');
  expect(await terminal.type(missed)).toMatchObject([{ ...job, kind: 'recover', total: 4, delivered: 4 }]);
  expect(new Set(receiver.ids()).size).toBe(7);
  expect(receiver.received).toHaveLength(7);

  await verb('pause');
  await customers(1);
  expect(await terminal.type(giveUp)).toMatchObject([{ endpoint_id: endpoint.id, kind: 'cancel_pending', status: 'completed', total: 1, processed: 1 }]);
}, 180_000);
