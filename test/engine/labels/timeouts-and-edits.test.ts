import { describe, expect, test } from 'vitest';
import { memoryStore, run } from '../../../src/index.js';
import type { RunOptions, RunResult } from '../../../src/index.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { quickTime } from '../../quick-time.js';
import { plan, task, type State } from '../plans.js';

interface Workflow {
  readonly plan: Plan;
  readonly bindings: Readonly<Record<string, unknown>>;
}

/** Where the function that takes too long stands, and what its node is called. */
const PLACES = ['alone', 'call', 'map', 'loop'] as const;
type Place = (typeof PLACES)[number];

/** What is edited, and what the functions then do: by default `pick` hands on somebody else's notes, and `slow` waits for ever on them. */
interface Edit {
  readonly pick?: () => object;
  readonly slow?: () => object;
  readonly other?: () => object;
}

const PICKED = { picked: { channel: 'picked' } };
const NEVER = new Promise<never>(() => undefined);

function container(place: Place, slow: PlanNode, limit: Partial<PlanNode>): PlanNode {
  if (place === 'alone') return { ...slow, ...limit } as PlanNode;
  const inner = plan({
    inputs: [{ name: 'picked', channel: 'picked', required: true }],
    channels: ['picked', 'done'],
    nodes: [slow],
  });
  const given = { id: 'box', plan: inner, inputs: PICKED, outputs: { done: 'done' }, ...limit };
  if (place === 'call') return { ...given, kind: 'call' } as unknown as PlanNode;
  if (place === 'loop') return { ...given, kind: 'loop', until: [], maxRounds: 1 } as unknown as PlanNode;
  const items = {
    over: { channel: 'items' },
    item: 'picked',
    inputs: {},
    result: 'done',
    maxItems: 3,
    outputs: {},
    output: 'done',
  };
  return { ...given, ...items, kind: 'map' } as unknown as PlanNode;
}

/** `slow` takes too long where the notes say so, `after` says whether it came to its end, and then somebody is asked. */
function workflow(place: Place, edit: Edit = {}): Workflow {
  const version = (fn: unknown): Partial<PlanNode> => (fn === undefined ? {} : { version: '2' });
  const slow = task('slow', version(edit.slow));
  const box = container(place, slow, { timeoutMs: 5_000, onError: 'continue' });
  const nodes = [
    task('pick', version(edit.pick)),
    task('other', version(edit.other)),
    box,
    task('after', { join: 'settled' }),
    { kind: 'ask', id: 'asks', question: ['Go on?'], output: 'answer' } as PlanNode,
  ];
  const defaults = {
    pick: ({ notes }: State) => ({ picked: notes, items: [notes] }),
    other: () => ({ aside: 'a' }),
    [place === 'alone' ? 'slow' : 'box/slow']:
      edit.slow ?? (({ picked }: State) => (picked === 'wait' ? NEVER : { done: 'yes' })),
    after: (_: State, { arrivals }: { arrivals: readonly { kind: string }[] }) => ({ word: arrivals[0]?.kind }),
  };
  return {
    plan: plan({
      inputs: [{ name: 'notes', channel: 'notes', required: true }],
      channels: ['notes', 'picked', 'items', 'aside', 'done', 'word', 'answer'],
      nodes,
      edges: ['pick>other', `other>${box.id}`, `${box.id}>after`, 'after>asks'],
    }),
    bindings: { ...defaults, ...(edit.pick && { pick: edit.pick }), ...(edit.other && { other: edit.other }) },
  };
}

const NOTES: RunOptions = { inputs: { notes: 'wait' }, untrusted: ['notes'] };
const answer = (): Promise<string> => Promise.resolve('yes');

function told({ outcome, state, labels }: RunResult): unknown {
  return { outcome, word: state['word'], label: labels?.['word'] };
}

/** A run stops at its question after a step took too long, and goes on with another workflow. */
async function goneOn(before: Workflow, after: Workflow): Promise<unknown> {
  const store = memoryStore();
  const paused = await run(before, { ...NOTES, store, runId: 'one' }).result;
  expect(told(paused)).toMatchObject({ outcome: 'paused', word: 'failed' });
  return told(await run(after, { store, resume: 'one', answer }).result);
}

const afresh = async (flow: Workflow): Promise<unknown> => told(await run(flow, { ...NOTES, answer }).result);

quickTime();

describe('that a step took too long counts for what it was then', () => {
  const edits: readonly [string, Edit][] = [
    ['what it reads', { pick: () => ({ picked: 'go', items: ['go'] }) }],
    ['its function', { slow: () => ({ done: 'at once' }) }],
  ];
  for (const place of PLACES)
    test.each(edits)(
      `${place}: an edit of %s gives what a run from the beginning gives, with the same label`,
      async (_, edit) => {
        const edited = workflow(place, edit);
        const resumed = await goneOn(workflow(place), edited);
        expect(resumed).toEqual(await afresh(edited));
        expect(resumed).toMatchObject({ outcome: 'succeeded', word: 'live' });
      },
    );

  test('an edit of what it does not read changes nothing', async () => {
    let waits = true;
    const slow = (state: State): unknown => (state['picked'] === 'wait' && waits ? NEVER : { done: 'yes' });
    const flow = (edit: Edit): Workflow => {
      const { plan: same, bindings } = workflow('alone', edit);
      return { plan: same, bindings: { ...bindings, slow } };
    };
    const store = memoryStore();
    await run(flow({}), { ...NOTES, store, runId: 'one' }).result;
    waits = false;
    const result = await run(flow({ other: () => ({ aside: 'b' }) }), { store, resume: 'one', answer }).result;
    expect(told(result)).toMatchObject({ outcome: 'degraded', word: 'failed', label: { sources: ['input:notes'] } });
    expect(result.state['aside']).toBe('b');
  });
});
