import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, bundleWorkflowCode, makeTelemetryFilterString, Runtime, DefaultLogger } from '@temporalio/worker';

/** Runs the bare workflow with the settings of the payments worker, in a process of its own. */
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
});
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS! });
const workflowBundle = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('./floor.workflow.js', import.meta.url)) });
const worker = await Worker.create({
  connection,
  namespace: process.env.BENCH_NAMESPACE!,
  taskQueue: 'bench-floor',
  workflowBundle,
  activities: { nothing: async () => 1 },
  maxConcurrentWorkflowTaskExecutions: 500,
  maxConcurrentLocalActivityExecutions: 500,
  maxConcurrentActivityTaskExecutions: 500,
  maxCachedWorkflows: 600,
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: 'ready' });
await worker.run();
