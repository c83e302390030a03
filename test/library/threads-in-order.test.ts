import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Many turns of one thread at once, in the built package: there, code that is loaded on demand arrives in any order. */
const PROGRAM = `
  import { getThread, memoryStore } from 'skein';
  import { graph } from 'skein/graph';
  const chat = graph({ reducers: { log: 'append' } }).addNode('hear', async ({ say }) => ({ log: say })).setEntry('hear');
  const store = memoryStore();
  for (const thread of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await Promise.all(Array.from({ length: 20 }, (_, say) => chat.run({ say }, { store, thread })));
    console.log(getThread(store, thread).state.log.join());
  }
`;

it('turns of one process that wait for each other run in the order in which they were started', async () => {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM], { cwd: ROOT });
  const inOrder = Array.from({ length: 20 }, (_, say) => say).join();
  expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 6 }, () => inOrder));
});
