import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run, type RunOptions } from 'skein';
import { rejected } from '../thrown.js';

const NOTES = { level: 'untrusted', isPrivate: false, sources: ['input:notes'] };

/** One step reads the notes, one does not, and one is reached or not by what the notes say. */
const triage = definePlan({
  name: 'triage',
  inputs: ['notes', 'team'],
  nodes: [
    { id: 'sum', output: 'summary', run: ({ notes }: { notes: string }) => notes.length },
    { id: 'greet', output: 'greeting', run: ({ team }: { team: string }) => `Hello ${team}` },
    { id: 'urgent', output: 'urgent', run: () => 'now' },
    { id: 'later', output: 'later', run: () => 'later' },
    { id: 'after', output: 'after', join: 'all', run: () => 'done' },
  ],
  edges: [
    ['urgent', 'after'],
    ['later', 'after'],
  ],
  routes: [
    {
      from: 'sum',
      targets: ['urgent', 'later'],
      choose: ({ summary }: { summary: number }) => (summary > 9 ? 'urgent' : 'later'),
    },
  ],
});

const GIVEN: RunOptions = { inputs: { notes: 'short', team: 'ops' }, untrusted: ['notes'] };

describe('inputs that the user does not influence', () => {
  it('label what was made of them, and what they decided, on the path not taken too; and nothing else', async () => {
    const { state, labels } = await run(triage, GIVEN).result;
    expect(state).toMatchObject({ summary: 5, greeting: 'Hello ops', later: 'later', after: 'done' });
    expect(labels).toMatchObject({ notes: NOTES, summary: NOTES, later: NOTES, after: NOTES });
  });

  it('label nothing that did not read them, where they decide nothing', async () => {
    const plain = definePlan({
      name: 'plain',
      inputs: ['notes', 'team'],
      nodes: [
        { id: 'sum', output: 'summary', run: ({ notes }: { notes: string }) => notes.length },
        { id: 'greet', output: 'greeting', run: ({ team }: { team: string }) => `Hello ${team}` },
      ],
      edges: [['sum', 'greet']],
    });
    const { labels } = await run(plain, GIVEN).result;
    expect(labels).toEqual({ notes: NOTES, summary: NOTES });
  });

  it('are labelled again when the run is resumed or forked, where no function runs a second time', async () => {
    const store = memoryStore();
    const first = await run(triage, { ...GIVEN, store, runId: 'r' }).result;
    const resumed = await run(triage, { store, resume: 'r' }).result;
    const forked = await run(triage, { store, fork: { run: 'r' } }).result;
    expect([resumed.ran, forked.ran]).toEqual([0, 0]);
    expect(first.labels?.['after']).toEqual(NOTES);
    expect([resumed.labels, forked.labels]).toEqual([first.labels, first.labels]);
  });

  it('are none in a run in which all is the user’s own', async () => {
    const result = await run(triage, { inputs: { notes: 'short', team: 'ops' } }).result;
    expect(Object.hasOwn(result, 'labels')).toBe(false);
  });

  it('are refused where the workflow has no such input: a name written wrong would trust what is not', async () => {
    const error = await rejected(() => run(triage, { ...GIVEN, untrusted: ['note'] }).result);
    expect([error.code, error.message]).toEqual([
      'SKEIN_INPUT',
      "'triage' has no input 'note' that could be untrusted",
    ]);
    const wrong = await rejected(() => run(triage, { ...GIVEN, untrusted: 'notes' as never }).result);
    expect(wrong.code).toBe('SKEIN_USAGE');
  });
});
