import { spawn } from 'node:child_process';
import { cliEntry } from '../support/installation.js';
import type { PrivateStack } from '../support/stack.js';

/** Runs a command against a private stack, as an operator would beside it. */
export function runCli(stack: PrivateStack, args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [cliEntry, ...args], { env: { PATH: process.env.PATH, HOME: process.env.HOME, SIGNALBOX_HOME: stack.home } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}
