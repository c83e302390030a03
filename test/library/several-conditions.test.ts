import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { Runnable, SkeinEvent, Store } from 'skein';
import { graph } from 'skein/graph';

interface State {
  readonly topic: string;
}
type Test = (state: State) => boolean;

const long: Test = ({ topic }) => topic.length > 3;
const looms: Test = ({ topic }) => topic === 'looms';
const tides: Test = ({ topic }) => topic === 'tides';
const INPUTS = { topic: 'looms' };

const planned = (...when: readonly Test[]): Runnable =>
  definePlan<State>({
    name: 'p',
    inputs: ['topic'],
    nodes: [
      { id: 'first', output: 'first', run: () => 1 },
      { id: 'it', output: 'it', when, run: ({ topic }) => topic.toUpperCase() },
    ],
    edges: [['first', 'it']],
  });

const drawn = (...when: readonly Test[]): Runnable =>
  graph<State>()
    .node('first', () => 1)
    .node('it', ({ first, topic }: { first: number; topic: string }) => `${topic}${first}`, { when })
    .setEntry('first')
    .compile();

const looped = (...until: readonly Test[]): Runnable => {
  const inner = definePlan<State>({
    name: 'inner',
    inputs: ['topic'],
    nodes: [{ id: 'round', output: 'topic', run: ({ topic }) => topic }],
  });
  return definePlan<State>({
    name: 'p',
    inputs: ['topic'],
    nodes: [
      {
        id: 'it',
        kind: 'loop',
        plan: inner,
        inputs: { topic: { channel: 'topic' } },
        outputs: { topic: 'topic' },
        maxRounds: 2,
        until: until.map((one) => one as (state: never) => boolean),
      },
    ],
  });
};

/** How `it` ended, whether its function ran, and what was said before. */
async function gone(workflow: Runnable, store: Store, resume: string) {
  const events: SkeinEvent[] = [];
  const { outcome } = await run(workflow, { store, resume, listeners: [(event) => events.push(event)] }).result;
  return {
    outcome,
    it: events.flatMap((event) => (event.type === 'step.ended' && event.path === 'it' ? [event.outcome] : [])),
    ran: events.flatMap((event) => (event.type === 'step.ended' && event.replayed !== true ? [event.path] : [])),
    warnings: events.flatMap((event) => (event.type === 'run.warning' ? [event.message] : [])),
  };
}

describe.each([
  ['a plan', planned],
  ['a graph', drawn],
])('several conditions of a node of %s', (_, made) => {
  it('[J2] [J11] an edit of one of them counts in a run that has finished', async () => {
    const store = memoryStore();
    const { runId } = await run(made(long, looms), { store, inputs: INPUTS }).result;
    expect(await gone(made(long, looms), store, runId)).toMatchObject({ ran: [], warnings: [] });
    const edited = await gone(made(long, tides), store, runId);
    expect(edited).toMatchObject({ outcome: 'succeeded', it: ['skipped'] });
    expect(edited.warnings).toEqual([expect.stringContaining('step it changed when')]);
  });

  it('each of them gets the state as it would alone: one that clones it gets plain data', async () => {
    let cloned: unknown;
    const clones: Test = (state) => (cloned = structuredClone(state)) !== undefined;
    expect(await run(made(long, clones), { inputs: INPUTS }).result).toMatchObject({ outcome: 'succeeded' });
    expect(cloned).toEqual({ topic: 'looms', first: 1 });
  });

  it('[J3] a run of an older version, in which they had no sources, keeps all its results', async () => {
    const store = memoryStore();
    const now = made(long, looms);
    const older = {
      ...now,
      bindings: { ...now.bindings, 'when:it': (state: State) => [long, looms].every((one) => one(state)) },
    };
    const { runId } = await run(older, { store, inputs: INPUTS }).result;
    expect(await gone(now, store, runId)).toMatchObject({ outcome: 'succeeded', ran: [], it: ['succeeded'] });
  });
});

it('[J2] an edit of one of several conditions that end a loop counts in a run that has finished', async () => {
  const store = memoryStore();
  const { runId, state } = await run(looped(long, looms), { store, inputs: INPUTS }).result;
  expect(state).toMatchObject({ topic: 'looms' });
  const edited = await gone(looped(long, tides), store, runId);
  expect(edited.warnings).toEqual([expect.stringContaining('step it changed')]);
  expect(edited.ran).toContain('it#2/round');
});
