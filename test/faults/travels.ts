import type { ExecutionChoice, Journey } from './journeys/journey.js';
import { journeys, mixture, type JourneyKind } from './journeys/plan.js';
import type { Random } from './random.js';
import { openShop, RunIsOver, type Shop, type Surroundings } from './shop.js';

/** Few enough that no card of a shop reaches the limits of its scheme by the others' declines alone. */
const journeysPerShop = 40;

export interface TravelsOptions {
  around: Surroundings;
  random: Random;
  execution: ExecutionChoice;
  /** Port at which the provider itself listens. */
  provider: () => number;
  told: (line: string) => void;
}

export interface TravelsOutcome {
  journeys: Record<string, number>;
  failed: { name: string; error: string }[];
}

/** All journeys of a run, a number of them under way at the same time. */
export class Travels {
  readonly #shops = new Map<number, Promise<Shop>>();
  readonly #opened: Shop[] = [];
  readonly #kinds: Record<JourneyKind, number>;
  readonly #counts: Record<string, number> = {};
  readonly #failed: TravelsOutcome['failed'] = [];
  #begun = 0;
  #mayBegin = true;

  constructor(private readonly options: TravelsOptions) {
    this.#kinds = mixture(options.random.part('mixture'));
  }

  async run({ payments, atOnce }: { payments: number; atOnce: number }): Promise<void> {
    const traveller = async (): Promise<void> => {
      while (!this.haveAllBegun(payments)) await this.travel((this.#begun += 1));
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, payments) }, traveller));
  }

  /** From here on the faults end, so that what was begun can end. */
  haveAllBegun(payments: number): boolean {
    return !this.#mayBegin || this.#begun >= payments;
  }

  /** No further journey begins; those under way go on. */
  beginNoMore(): void {
    this.#mayBegin = false;
  }

  accounts(): string[] {
    return this.#opened.map(({ account }) => account);
  }

  outcome(): TravelsOutcome {
    return { journeys: this.#counts, failed: this.#failed };
  }

  private async travel(index: number): Promise<void> {
    const random = this.options.random.part(index);
    const kind = random.weighted(this.#kinds);
    const name = `${kind}-${index}`;
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    if (index % 100 === 0) this.options.told(`journey ${index}`);
    try {
      const shop = await this.shopOf(Math.floor(index / journeysPerShop));
      const { execution } = this.options;
      const journey: Journey = {
        name, index, shop, random, execution, caller: shop.caller.on(name), atProvider: (path, body) => this.atProvider(path, body),
      };
      await journeys[kind](journey);
    } catch (error) {
      if (error instanceof RunIsOver) return void (this.#counts['cut short'] = (this.#counts['cut short'] ?? 0) + 1);
      this.#failed.push({ name, error: String(error) });
      this.options.told(`${name} ended: ${String(error)}`);
    }
  }

  private shopOf(number: number): Promise<Shop> {
    const known = this.#shops.get(number);
    if (known) return known;
    const opening = openShop(this.options.around, `shop${number}`).then((shop) => {
      this.#opened.push(shop);
      return shop;
    });
    this.#shops.set(number, opening);
    return opening;
  }

  /** Not through the proxy: what breaks there is between the provider and us. */
  private async atProvider(path: string, body: object): Promise<void> {
    try {
      const url = `http://127.0.0.1:${this.options.provider()}${path}`;
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), redirect: 'manual' });
      await answer.arrayBuffer();
    } catch (error) {
      this.options.told(`the provider was away: ${String(error)}`);
    }
  }
}
