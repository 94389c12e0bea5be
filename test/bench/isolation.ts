import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { emit, untilReceived, type ReceiverReport } from './deliveries.js';
import { paced, percentile } from './measure.js';
import type { Report } from './report.js';
import type { Stage } from './stage.js';
import { startSubprocess } from './subprocess.js';

const type = 'product.updated';
const healthy = 8;

/** Eight endpoints that answer, alone and beside one that never answers and one that fails all: from commit to first byte at the eight. */
export async function measureIsolation(report: Report, stage: Stage, { quick }: { quick: boolean }): Promise<void> {
  const receiver = await startSubprocess('receiver', {});
  const hanging = await listen(() => undefined);
  const failing = await listen((_, response) => response.writeHead(500).end());
  const made: string[] = [];
  const register = async (url: string) => {
    made.push((await stage.call('POST', '/webhook-endpoints/', { url, enabled_events: [type] })).id as string);
  };
  try {
    for (let index = 0; index < healthy; index += 1) await register(receiver.url);
    const pace = { perSecond: 10, seconds: quick ? 6 : 30 };
    const delays = async () => {
      await paced(async () => { await emit(stage, type, 1); }, pace);
      await untilReceived(receiver, healthy * pace.perSecond * pace.seconds);
      return (await receiver.ask<ReceiverReport>('reset')).delays;
    };
    await delays();
    const alone = await delays();
    await register(hanging.url);
    await register(failing.url);
    const beside = await delays();
    const ratio = percentile(beside, 0.99) / percentile(alone, 0.99);
    report.add('eight endpoints, ten events a second: event → first byte', shown(alone));
    report.add('the same beside one that never answers and one that fails all', `${shown(beside)}; p99 × ${ratio.toFixed(2)}`, '≤ 1.5', ratio <= 1.5);
  } finally {
    for (const id of made) await stage.call('DELETE', `/webhook-endpoints/${id}`);
    receiver.stop();
    for (const { server } of [hanging, failing]) {
      server.closeAllConnections();
      server.close();
    }
  }
}

async function listen(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function shown(delays: readonly number[]): string {
  return `p50 ${percentile(delays, 0.5)} ms, p99 ${percentile(delays, 0.99)} ms`;
}
