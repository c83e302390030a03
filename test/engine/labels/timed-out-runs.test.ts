import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { definePlan, memoryStore, run } from '../../../src/index.js';
import type { RunOptions, RunResult } from '../../../src/index.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { plan, task, type State } from '../plans.js';

/** The one timeout of these plans, in milliseconds: it rings when a test says so. */
const LIMIT = 54_321;

/** Where the function stands that is cut off; `deep`: in a plan in a plan, of which the outer one takes too long. */
const PLACES = ['alone', 'call', 'map', 'loop', 'deep'] as const;
type Place = (typeof PLACES)[number];

interface Io {
  readonly runOptions: RunOptions;
}

const child = definePlan({
  name: 'child',
  inputs: ['mail'],
  nodes: [{ id: 'copy', run: ({ mail }: State) => ({ copied: mail }) }],
});

let ring: () => void = () => undefined;

beforeEach(() => {
  const real = { ...systemClock };
  vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, fire) => {
    if (ms !== LIMIT) return real.setTimer(ms, fire);
    ring = fire;
    return () => undefined;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function around(place: Place, limit: Partial<PlanNode>): PlanNode {
  const slow = task('slow');
  if (place === 'alone') return { ...slow, ...limit } as PlanNode;
  const given = { id: 'box', inputs: {}, outputs: { done: 'done' }, ...limit };
  const inputs = [{ name: 'item', channel: 'item', required: false }];
  const sub = (node: PlanNode): Plan => plan({ inputs, channels: ['item', 'done'], nodes: [node, task('beside')] });
  if (place === 'call') return { ...given, kind: 'call', plan: sub(slow) };
  if (place === 'loop') return { ...given, kind: 'loop', plan: sub(slow), until: [], maxRounds: 1 };
  if (place === 'deep') return { ...given, kind: 'call', plan: sub({ ...around('call', {}), id: 'in' }) };
  const items = { over: { channel: 'list' }, item: 'item', result: 'done', maxItems: 1, outputs: {}, output: 'done' };
  return { ...given, ...items, kind: 'map', plan: sub(slow) };
}

const PATHS: Record<Place, string> = { alone: 'slow', call: 'box/', map: 'box/', loop: 'box/', deep: 'box/in/' };

/** `slow` reads what a run of its own heard, and never ends; `after` says that; then somebody is asked. */
function workflow(place: Place): { plan: Plan; bindings: Record<string, unknown> } {
  const slow = async (_: State, io: Io): Promise<never> => {
    await run(child, { ...io.runOptions, inputs: { mail: 'x' }, untrusted: ['mail'] }).result;
    ring();
    return new Promise<never>(() => undefined);
  };
  const box = around(place, { timeoutMs: LIMIT, onError: 'continue' });
  const prefix = PATHS[place];
  const inside = place === 'alone' ? {} : { [`${prefix}slow`]: slow, [`${prefix}beside`]: () => ({}) };
  return {
    plan: plan({
      channels: ['list', 'done', 'word', 'answer'],
      nodes: [
        task('lists'),
        box,
        task('after', { join: 'settled' }),
        { kind: 'ask', id: 'asks', question: ['Go on?'], output: 'answer' },
      ],
      edges: [`lists>${box.id}`, `${box.id}>after`, 'after>asks'],
    }),
    bindings: {
      lists: () => ({ list: ['one'] }),
      after: () => ({ word: 'late' }),
      ...(place === 'deep' ? { 'box/beside': () => ({}) } : {}),
      ...(place === 'alone' ? { slow } : inside),
    },
  };
}

function labelOf({ labels, state }: RunResult): unknown {
  expect(state['word']).toBe('late');
  return labels?.['word'];
}

const answer = (): Promise<string> => Promise.resolve('yes');

describe('a function that heard something from a run of its own, and was cut off by a timeout', () => {
  test.each(PLACES)('%s: what comes after it carries that, in memory, after a resume and in a fork', async (place) => {
    const store = memoryStore();
    const flow = workflow(place);
    const heard = { level: 'untrusted', sources: ['input:mail'] };
    expect(labelOf(await run(flow, { answer }).result)).toMatchObject(heard);
    const paused = await run(flow, { store, runId: 'one' }).result;
    expect(paused.outcome).toBe('paused');
    expect(labelOf(paused)).toMatchObject(heard);
    expect(labelOf(await run(flow, { store, fork: { run: 'one' }, answer }).result)).toMatchObject(heard);
    expect(labelOf(await run(flow, { store, resume: 'one', answer }).result)).toMatchObject(heard);
  });
});
