// Starts `server.mjs` as a process of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../server.mjs', import.meta.url));

/** A running published server: `{http, ws, order(line), stop()}`. */
export async function startPeer(...parameters) {
  const child = spawn(process.execPath, [PROGRAM, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    ...JSON.parse(line.replace(/^ready /, '')),
    order: (text) => child.stdin.write(`${text}\n`),
    stop: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}
