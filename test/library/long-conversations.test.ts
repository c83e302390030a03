import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { memoryStore, updateThread } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';
import { programOf } from '../programs.js';

const HUNDRED = 'x'.repeat(100);

/** A clerk that answers in a conversation. */
function clerk() {
  const { models, requests } = ownModels({ m: () => `re: ${HUNDRED}` });
  const flow = graph<{ task: string; talk?: readonly object[] }>({ reducers: { talk: 'extend' } })
    .node('clerk', agentNode(agent({ name: 'clerk', model: 'own/m' }), { conversation: 'talk' }))
    .setEntry('clerk');
  const turn = (store: Store, thread: string) => flow.run({ task: HUNDRED }, { store, thread, models });
  return { turn, requests };
}

/** Bytes that the next turn of a thread writes: to the thread, and to its run. */
async function bytesOfTurn(
  store: Store,
  thread: string,
  turn: (store: Store, thread: string) => Promise<{ runId: string }>,
) {
  const row = `thread:${thread}`;
  const before = store.run(row)?.batches ?? 0;
  const { runId } = await turn(store, thread);
  const batches = [...store.read(row, before), ...store.read(runId)];
  return batches.reduce((sum, { text }) => sum + text.length, 0);
}

it('the 1,000th turn of a conversation writes what it adds, at most 1.5 times as much as the 10th', async () => {
  const store = memoryStore();
  const { turn, requests } = clerk();
  for (let at = 1; at < 10; at++) await turn(store, 'short');
  const tenth = await bytesOfTurn(store, 'short', turn);
  await turn(store, 'long');
  const said = Array.from({ length: 997 }, () => [
    { role: 'user', text: HUNDRED },
    { role: 'assistant', text: HUNDRED, toolCalls: [], by: 'clerk' },
  ]);
  updateThread(store, 'long', { talk: said.flat() }, { who: 'test', why: 'a long conversation' });
  await turn(store, 'long');
  const last = await bytesOfTurn(store, 'long', turn);
  expect(requests.at(-1)?.messages).toHaveLength(2 * 999 + 1);
  expect(last / tenth).toBeLessThan(1.5);
  expect(last).toBeGreaterThan(2 * HUNDRED.length);
});

it('a conversation of 200,000 messages is sent: it is never spread into arguments', async () => {
  // Of a process of its own: the stacks of the threads that run tests are larger than that of a program.
  const program = await programOf(join(import.meta.dirname, 'support/long-conversation.ts'));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  expect(stdout.trim()).toBe('succeeded 200002 messages');
});
