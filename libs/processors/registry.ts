import type { Environment } from '../domain/environment.js';
import type { ProcessorAdapter, ProcessorKind } from './port.js';
import { createSimulatorAdapter } from './simulator/simulator.adapter.js';

export interface ProcessorSettings {
  /** Base address of the simulator; null where there is none (production). */
  simulatorUrl: string | null;
}

export interface ProcessorRegistry {
  /** Whether a connection of this kind can be used here: it has an adapter, and this environment allows it. */
  supports(kind: ProcessorKind): boolean;
  /** The adapter of a kind; throws if `supports` is false (such a connection cannot be created). */
  processorFor(kind: ProcessorKind): ProcessorAdapter;
  close(): Promise<void>;
}

/** One per process. The simulator exists in staging only, whatever the settings say. */
export function createProcessorRegistry(environment: Environment, settings: ProcessorSettings): ProcessorRegistry {
  const adapters = new Map<ProcessorKind, ProcessorAdapter>();
  if (environment === 'staging' && settings.simulatorUrl) {
    adapters.set('simulator', createSimulatorAdapter({ baseUrl: settings.simulatorUrl }));
  }
  return {
    supports: (kind) => adapters.has(kind),
    processorFor(kind) {
      const adapter = adapters.get(kind);
      if (!adapter) throw new Error(`no adapter for processor kind ${kind} in ${environment}`);
      return adapter;
    },
    async close() {
      await Promise.all([...adapters.values()].map((adapter) => adapter.close()));
    },
  };
}
