import { createHook } from 'node:async_hooks';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Everything in a folder, with size and time of change. */
export function snapshot(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

/** Kinds of handles of Node that a process, a socket, a name look-up or a thread would need. */
const OUTSIDE = /PROCESS|TCP|UDP|PIPE|TLS|GETADDRINFO|DNS|WORKER|HTTP/;

/** Runs something, and gives the kinds of outside handles that were opened meanwhile. */
export async function handlesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const opened: string[] = [];
  const hook = createHook({
    init: (_, type) => {
      if (OUTSIDE.test(type)) opened.push(type);
    },
  });
  hook.enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return opened;
}
