import type { Model } from '../../../src/agent/model.js';
import { inTurns } from './planted-run.js';

export const call = (name: string, input: object = {}) => ({ calls: [[name, input]] }) as const;

const WRITE = call('write_file', { path: 'notes.md', content: 'x' });

/** The calls of an agent that writes what a page says. */
export const WRITES = [call('page'), WRITE] as const;

/** An agent that reads what was written, and writes a program. */
export const READS = inTurns([
  call('read_file', { path: 'notes.md' }),
  call('write_file', { path: 'a.ts', content: 'x' }),
]);

/** A model that makes the calls of its agent itself, inside of one model call; `end` gives its text, hangs or fails. */
export const callsByItself = (end: () => Promise<string>): Model => ({
  id: 'loop/own',
  async *stream(request) {
    for (const [at, said] of WRITES.entries()) {
      const [[name, input]] = said.calls;
      await request.dispatch({ id: `c${at}`, name, input: JSON.stringify(input) });
    }
    yield { type: 'text', text: await end() };
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  },
});
