import { Connection } from '@temporalio/client';
import type { ChildSpec } from './child.js';
import type { Home } from './home.js';

export interface TemporalOptions {
  binary: string;
  ports: { grpc: number; ui: number; http: number; metrics: number };
  namespaces: string[];
}

/** What operators filter by in the Temporal UI. */
export const searchAttributes = ['SignalboxStatus', 'SignalboxCustomer', 'SignalboxAccount'];

/**
 * By default the server polls its queues 20 times a second per shard, which costs 30 ms per dispatch after a burst; and a development
 * server reads its search attributes from the file for each step of a workflow, half of what a step reads and writes.
 */
const dynamicConfig = [
  'system.forceSearchAttributesCacheRefreshOnRead=false',
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=200',
  'history.outboundProcessorMaxPollRPS=2000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

const retentionDays = 7;
const alreadyExists = 6;
const invalidArgument = 3;
const attemptGapMs = 100;
const mostAttempts = 300;
const keyword = 2;

/** Temporal's own development server with its data in the home, so that a restart loses nothing. */
export function temporalChild(home: Home, options: TemporalOptions): ChildSpec {
  const { ports } = options;
  const flags: [string, string | number][] = [
    ['--ip', '127.0.0.1'],
    ['--port', ports.grpc],
    ['--ui-port', ports.ui],
    ['--http-port', ports.http],
    ['--metrics-port', ports.metrics],
    ['--db-filename', home.file('temporal', 'temporal.db')],
    ['--sqlite-pragma', 'journal_mode=WAL'],
    ['--sqlite-pragma', 'synchronous=NORMAL'],
    ['--log-level', 'error'],
    ...options.namespaces.map((name): [string, string] => ['--namespace', name]),
    ...searchAttributes.map((name): [string, string] => ['--search-attribute', `${name}=Keyword`]),
    ...dynamicConfig.map((setting): [string, string] => ['--dynamic-config-value', setting]),
  ];
  return {
    name: 'temporal',
    command: options.binary,
    args: ['server', 'start-dev', ...flags.flatMap(([flag, value]) => [flag, String(value)])],
    env: { PATH: process.env.PATH, HOME: home.path, TMPDIR: process.env.TMPDIR },
    cwd: home.path,
    stopGraceMs: 10_000,
    answers: () => answers(`127.0.0.1:${ports.grpc}`),
  };
}

async function answers(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  await connection.close();
  return true;
}

/** Makes namespaces and search attributes where they are missing, on our own server and on one that was there before. */
export async function prepareTemporal(address: string, namespaces: string[]): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 10_000 });
  try {
    for (const namespace of namespaces) {
      await prepareNamespace(connection, namespace);
      await prepareSearchAttributes(connection, namespace);
      await untilSearchable(connection, namespace);
    }
  } finally {
    await connection.close();
  }
}

type NamespaceRequest = Parameters<Connection['workflowService']['updateNamespace']>[0];
const retention = { seconds: retentionDays * 86_400 } as unknown as NonNullable<NamespaceRequest['config']>['workflowExecutionRetentionTtl'];

async function prepareNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
  } catch (error) {
    if ((error as { code?: number }).code !== alreadyExists) throw error;
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const kept = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    if (kept >= retentionDays * 86_400) return;
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: retention } });
  }
}

async function prepareSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributes.filter((name) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) });
}

/** What was made a moment ago is known to the server when it reads its settings again, which it does every few seconds. */
async function untilSearchable(connection: Connection, namespace: string): Promise<void> {
  const query = searchAttributes.map((name) => `${name} = 'none'`).join(' OR ');
  for (let attempt = 1; ; attempt += 1) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if ((error as { code?: number }).code !== invalidArgument || attempt === mostAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, attemptGapMs));
    }
  }
}
