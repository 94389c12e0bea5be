import type { Environment } from '../domain/environment.js';
import type { FieldProblem } from '../errors/domain-error.js';
import { createHttpAdapter } from './http/http.adapter.js';
import type { ProcessorAdapter, ProcessorKind } from './port.js';
import { connectionProblems, type WantedConnection } from './settings.js';
import { createSimulatorAdapter } from './simulator/simulator.adapter.js';
import { createStripeAdapter } from './stripe/stripe.adapter.js';

export interface ProcessorSettings {
  /** Base address of the simulator; null where there is none (production). */
  simulatorUrl: string | null;
  /** What the simulator signs its callbacks with; without it they are refused. */
  simulatorSecret?: Buffer | null;
  /** One machine runs everything: processors of staging may stand on loopback addresses. */
  local?: boolean;
}

export interface ProcessorRegistry {
  /** Whether a connection of this kind can be used here: it has an adapter, and this environment allows it. */
  supports(kind: ProcessorKind): boolean;
  /** The adapter of a kind; throws if `supports` is false (such a connection cannot be created). */
  processorFor(kind: ProcessorKind): ProcessorAdapter;
  /** What is wrong with them in this environment, by field; empty if nothing is. */
  problemsOf(kind: ProcessorKind, wanted: WantedConnection): FieldProblem[];
  close(): Promise<void>;
}

/** One per process. The simulator exists in staging only, whatever the settings say. */
export function createProcessorRegistry(environment: Environment, settings: ProcessorSettings): ProcessorRegistry {
  const adapters = new Map<ProcessorKind, ProcessorAdapter>();
  if (environment === 'staging' && settings.simulatorUrl) {
    adapters.set('simulator', createSimulatorAdapter({ baseUrl: settings.simulatorUrl, secret: settings.simulatorSecret ?? null }));
  }
  const place = { environment, allowLoopback: environment === 'staging' && settings.local === true };
  adapters.set('http', createHttpAdapter(place));
  adapters.set('stripe', createStripeAdapter(place));
  return {
    supports: (kind) => adapters.has(kind),
    processorFor(kind) {
      const adapter = adapters.get(kind);
      if (!adapter) throw new Error(`no adapter for processor kind ${kind} in ${environment}`);
      return adapter;
    },
    problemsOf: (kind, wanted) => connectionProblems(kind, wanted, place),
    async close() {
      await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
    },
  };
}
