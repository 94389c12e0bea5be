import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What may be broken: see `broken_provider.py`. */
export interface ProviderOptions {
  broken?: string;
}

/** The reference provider as a process of its own, with a ledger that survives it. */
export class ReferenceProvider {
  url = '';
  /** As in its environment: newest first, with a comma between two. */
  secrets = randomBytes(24).toString('hex');
  private child: ChildProcess | null = null;
  private port = 0;

  private constructor(private readonly folder: string, private readonly options: ProviderOptions) {}

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

  private async run(): Promise<void> {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, SECRET: this.secrets, PORT: String(this.port), LEDGER: join(this.folder, 'ledger.ndjson'), BREAK: this.options.broken ?? '' };
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
