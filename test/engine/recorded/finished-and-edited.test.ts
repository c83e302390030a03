import { describe, expect, test } from 'vitest';
import { definePlan, memoryStore, run } from '../../../src/index.js';

type State = Readonly<Record<string, unknown>>;

/** After `write` come two steps that do not read it; the chooser of the first does. */
function workflow(version: string, draft: string) {
  return definePlan({
    name: 'drafts',
    channels: { draft: 'last', out: 'last', seen: 'last', noted: 'last' },
    nodes: [
      { id: 'write', kind: 'task', output: 'draft', version, run: () => draft },
      { id: 'look', kind: 'task', output: 'seen', run: () => true },
      { id: 'note', kind: 'task', output: 'noted', run: () => true },
      { id: 'short', kind: 'task', output: 'out', run: ({ draft: text }: State) => `short: ${String(text)}` },
      { id: 'long', kind: 'task', output: 'out', run: ({ draft: text }: State) => `long: ${String(text)}` },
    ],
    edges: [
      ['write', 'look'],
      ['write', 'note'],
    ],
    routes: [
      {
        from: 'look',
        choose: ({ draft: text }: State) => (String(text).length > 5 ? 'long' : 'short'),
        targets: ['short', 'long'],
      },
    ],
  });
}

describe('a run that had finished and continues under an edit', () => {
  test('asks its choosers again while other steps come from the record, and goes where they say now', async () => {
    const store = memoryStore();
    const first = await run(workflow('1', 'one'), { store, runId: 'r' }).result;
    expect(first).toMatchObject({ outcome: 'succeeded', state: { out: 'short: one' } });
    const edited = await run(workflow('2', 'a longer one'), { store, resume: 'r' }).result;
    expect(edited).toMatchObject({ outcome: 'succeeded', state: { out: 'long: a longer one' } });
    expect(await run(workflow('2', 'a longer one'), { store, resume: 'r' }).result).toMatchObject({ ran: 0 });
  });
});
