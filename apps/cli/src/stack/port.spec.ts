import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts, portBase, portNames } from './port.js';
import { identify } from './process.js';

const base = 22_300;

describe('choosePorts', () => {
  it('lays the ports out from the base in their order', async () => {
    const choice = await choosePorts(base, {});
    choice.release();
    expect(Object.values(choice.ports)).toEqual(portNames.map((_, index) => base + index));
    expect(choice.moved).toEqual([]);
  });

  it('never gives two starts in the same moment the same port', async () => {
    const choices = await Promise.all([choosePorts(base, {}), choosePorts(base, {}), choosePorts(base, {})]);
    const all = choices.flatMap(({ ports }) => Object.values(ports));
    choices.forEach((choice) => choice.release());
    expect(new Set(all).size).toBe(3 * portNames.length);
  });

  it('respects what another person has reserved', async () => {
    (await choosePorts(base + 60, {})).release();
    const file = join(tmpdir(), 'signalbox-ports', String(base + 60));
    writeFileSync(file, JSON.stringify(identify(process.pid)));
    if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
    const choice = await choosePorts(base + 60, {});
    choice.release();
    rmSync(file);
    expect(choice.moved.map(({ wanted }) => wanted)).toEqual([base + 60]);
  });

  it('keeps the ports of the last start, and says which had to move', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(base + 40, '127.0.0.1', done));
    const choice = await choosePorts(null, { 'api-staging': base + 40, simulator: base + 41 });
    choice.release();
    server.close();
    expect(choice.ports.simulator).toBe(base + 41);
    expect(choice.moved).toContainEqual({ name: 'api-staging', wanted: base + 40, port: base + 40 + portNames.length });
  });
});

describe('portBase', () => {
  it.each(['x', '0', '-1', '1.5', '65530'])('refuses %s', (text) => {
    expect(() => portBase(text)).toThrow('SIGNALBOX_PORT_BASE');
  });

  it('is absent when the variable is', () => {
    expect([portBase(undefined), portBase(''), portBase('4100')]).toEqual([null, null, 4100]);
  });
});
