import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { NOTATIONS, runSteps } from './support/both.js';

/** A command that fails with what it read, and a step that takes of it how it ended. */
const steps = (notation: string, taken: string): string => {
  const [from, after] = notation === 'dag' ? ['', ', depends_on: [one]'] : ['$', ''];
  return `  - { id: one, on_error: continue, run: [sh, -c, 'echo from elsewhere >&2; exit 1'] }
  - { id: took${after}, type: set, values: { v: "{{ ${from}steps.one.${taken} }}" } }
`;
};

describe.each(NOTATIONS)('[addition 7] how a command of a %s ended is as untrusted as what it wrote', (notation) => {
  it.each([
    ['its status', 'status', 'failed'],
    ['its error', 'error.code', 'SKEIN_EXIT'],
    ['the message of it', 'error.message', expect.stringContaining('from elsewhere') as unknown],
  ])('%s', async (_, taken, value) => {
    const { outcome, labels, output, runId } = await runSteps(notation, steps(notation, taken), {
      store: memoryStore(),
    });
    expect([outcome, output('took'), runId.length > 0]).toEqual(['degraded', { v: value }, true]);
    expect(labels?.['steps.took.output']).toMatchObject({ level: 'untrusted', sources: ['one@tool#1.1'] });
  });
});
