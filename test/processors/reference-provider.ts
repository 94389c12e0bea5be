import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What may be broken: see `broken_provider.py`. */
export interface ProviderOptions {
  broken?: string;
}

export interface BookedPayment {
  id: string;
  reference: string;
  status: string;
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
}

/** The reference provider as a process of its own, with a ledger that survives it. */
export class ReferenceProvider {
  url = '';
  /** As in its environment: newest first, with a comma between two. */
  secrets = randomBytes(24).toString('hex');
  private child: ChildProcess | null = null;
  private port = 0;

  private constructor(private readonly folder: string, readonly options: ProviderOptions) {}

  static async start(options: ProviderOptions = {}): Promise<ReferenceProvider> {
    const provider = new ReferenceProvider(await mkdtemp(join(tmpdir(), 'reference-provider-')), options);
    await provider.run();
    return provider;
  }

  /** The newest secret. */
  get secret(): string {
    return this.secrets.split(',')[0]!;
  }

  get pid(): number {
    return this.child!.pid!;
  }

  /** Everything that it made under a payment's reference, by its own ledger. */
  async paymentsOf(reference: string): Promise<BookedPayment[]> {
    const payments = new Map<string, BookedPayment>();
    for (const line of (await readFile(this.ledger, 'utf8')).split('\n').filter(Boolean)) {
      for (const [kind, id, row] of JSON.parse(line) as [string, string, BookedPayment][]) if (kind === 'payment') payments.set(id, row);
    }
    return [...payments.values()].filter((payment) => payment.reference === reference);
  }

  /** Ends it without warning; resolves when it is gone. */
  async kill9(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** Starts it again at the same address, with the same ledger. */
  async restart(): Promise<void> {
    await this.kill9();
    await this.run();
  }

  async remove(): Promise<void> {
    await this.kill9();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get ledger(): string {
    return join(this.folder, 'ledger.ndjson');
  }

  private async run(): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, SECRET: this.secrets, PORT: String(this.port), LEDGER: this.ledger, BREAK: this.options.broken ?? '' };
    const child = spawn('python3', ['test/processors/broken_provider.py', 'libs/processors/http/reference_provider.py'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.url = await readyAddress(child);
    this.port = Number(new URL(this.url).port);
  }
}

function readyAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /^ready (\S+)$/m.exec(output);
      if (ready) resolve(ready[1]!);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}: ${output}`)));
  });
}
