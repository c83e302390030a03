import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { tool } from 'skein/graph';
import { storeWith } from '../engine/recorded/in-process.js';
import type { Said } from '../graph/support-agents.js';
import type { Course } from './support/beside-planter.js';
import { COMMAND, processOf, project } from './support/beside-planter.js';

const send = tool({ name: 'send', inputSchema: { type: 'object' }, execute: () => 'sent' });

/** Fails the first attempt of the step unless it is recorded that it did. */
function failingOnce(journal: string): () => Said {
  let failed = journal.includes('"key":"b@model#2"');
  return () => {
    if (failed) return COMMAND;
    failed = true;
    throw new Error('a bad answer');
  };
}

const COURSES: Readonly<Record<string, (journal: string) => Pick<Course, 'turns' | 'tools' | 'node' | 'dispatches'>>> =
  {
    'alone in its turn': () => ({}),
    'beside a call that is asked about anyway': () => ({
      tools: [send],
      turns: [
        () => ({ calls: [['read_file', { path: 'notes.md' }]] }),
        () => ({ calls: [['send', {}], ...(COMMAND as { calls: [] }).calls] }),
      ],
    }),
    'and again in the next turn': () => ({ turns: [() => COMMAND, () => COMMAND] }),
    'inside of a model call': () => ({ dispatches: true }),
    'twice inside of a model call': () => ({ dispatches: true, turns: [() => COMMAND, () => COMMAND] }),
    'and again in the next attempt of its step': (journal) => ({
      turns: [() => COMMAND, failingOnce(journal)],
      node: { retry: { retries: 1, delayMs: 1, on: ['bad'] } },
    }),
  };

it.each(Object.entries(COURSES))(
  'a command that a person is asked about %s stays denied wherever the process dies, and no one is asked twice',
  async (_, course) => {
    const cwd = project();
    writeFileSync(join(cwd, 'notes.md'), 'Notes.');
    const ran = join(cwd, 'ran.txt');
    const store = memoryStore();
    const first = processOf({ cwd, plants: true, ...course('') });
    first.play(store, { inputs: { task: 'Go.' }, runId: 'r' });
    await first.decided;
    expect(existsSync(ran)).toBe(false);
    const batches = store.read('r');
    const textOf = (cut: number): string =>
      batches
        .slice(0, cut)
        .map(({ text }) => text)
        .join('\n');
    const asked = batches.findIndex(({ text }) => /"t":"pause"[^\n]*"b@[^"]*ask:guard#/.test(text));
    expect(asked).toBeGreaterThan(0);
    for (let cut = asked + 1; cut <= batches.length; cut += 1) {
      const second = processOf({ cwd, plants: false, ...course(textOf(cut)) });
      second.play(storeWith('r', batches.slice(0, cut), store), { resume: 'r' });
      await second.decided;
      const answered = textOf(cut).match(/"t":"done"[^\n]*"key":"b[^"]*[@.]ask:guard#/g)?.length ?? 0;
      const all = first.asked.filter((key) => key.startsWith('b'));
      expect([existsSync(ran), second.asked], `cut ${cut}`).toEqual([false, all.slice(answered)]);
    }
  },
);
