import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { Condition } from '../../src/lang/values.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';
import { plan, task, writes } from './plans.js';

const LIST = JSON.stringify(Array.from({ length: 200 }, (_, at) => at));

/** It costs some 300,000 units of work, and holds. */
const COSTLY: Condition = { op: 'cel', expression: `${LIST}.all(x, ${LIST}.all(y, x + y >= 0))`, vars: {} };
const NEVER: Condition = {
  op: 'cel',
  expression: `${LIST}.all(x, ${LIST}.all(y, x + y < 0 || x >= 0)) && false`,
  vars: {},
};

/** More than a run does at once, many times over. */
const MANY = 30;
const many = <T>(make: (at: number) => T): T[] => Array.from({ length: MANY }, (_, at) => make(at));
const input = (channel: string): Plan['inputs'][number] => ({ channel, name: channel, required: false });

const inner = plan({ nodes: [task('work', { when: [COSTLY] })], inputs: [input('item')], channels: ['out'] });
const idle = plan({ nodes: [{ kind: 'pass', id: 'work' }], inputs: [input('text')] });

/** Texts of a few million characters of JSON, each read by another step. */
const read = (at: number): PlanNode => ({
  kind: 'call',
  id: `s${at}`,
  plan: idle,
  inputs: { text: { template: [{ channel: 'data', path: ['0', 'a'] }, String(at)] } },
});

const SHAPES: readonly { readonly name: string; readonly plan: Plan; readonly inputs?: Record<string, unknown> }[] = [
  {
    name: 'conditions of steps that are ready together',
    plan: plan({ nodes: many((at) => task(`s${at}`, { when: [COSTLY] })) }),
  },
  {
    name: 'conditions one after the other',
    plan: plan({
      nodes: many((at) => ({ kind: 'pass', id: `s${at}`, when: [COSTLY] })),
      edges: many((at) => `s${at}>s${at + 1}`).slice(0, -1),
    }),
  },
  {
    name: 'cases of routes',
    plan: plan({
      nodes: many((at) => ({ kind: 'pass', id: `s${at}` })),
      routes: many((at) => ({ from: `s${at}`, cases: [{ when: [COSTLY], to: [`s${at + 1}`] }], otherwise: [] })).slice(
        0,
        -1,
      ),
      entry: 's0',
    }),
  },
  {
    name: 'conditions in the items of a map',
    plan: plan({
      nodes: [
        {
          kind: 'map',
          id: 'each',
          plan: inner,
          over: { channel: 'items' },
          item: 'item',
          result: 'out',
          output: 'all',
          maxItems: MANY,
        },
      ],
      inputs: [input('items')],
      channels: ['all'],
    }),
    inputs: { items: many((at) => at) },
  },
  {
    name: 'conditions that end loops, which do nothing else',
    plan: plan({
      nodes: [{ kind: 'loop', id: 'again', plan: idle, until: [NEVER], maxRounds: MANY, onMaxRounds: 'continue' }],
    }),
  },
  {
    name: 'texts of steps that are ready together',
    plan: plan({ nodes: many(read), inputs: [input('data')] }),
    inputs: { data: `[{"a":1}${',{"a":1}'.repeat(100_000)}]` },
  },
];

const bindings = Object.fromEntries([...many((at) => `s${at}`), 'each/work'].map((key) => [key, writes({})]));

describe.each(SHAPES)('[XS5] $name', ({ plan: thePlan, inputs = {} }) => {
  test('a signal ends the run in the middle', async () => {
    const abort = new AbortController();
    setImmediate(() => abort.abort());
    const ended: string[] = [];
    const listeners = [(event: SkeinEvent) => event.type === 'step.started' && ended.push(event.path)];
    const result = await startRun(thePlan, { inputs, bindings, listeners, signal: abort.signal }).result;
    expect(result).toMatchObject({ outcome: 'cancelled', error: { code: 'SKEIN_CANCELLED' } });
    expect(ended.length).toBeLessThan(MANY / 2);
  });

  test('without one it comes to its end, the same in every repetition', async () => {
    const once = async (): Promise<readonly unknown[]> => {
      const events: unknown[] = [];
      const listeners = [({ runId: _run, at: _at, ...event }: SkeinEvent) => events.push(event)];
      const { outcome } = await startRun(thePlan, { inputs, bindings, listeners }).result;
      return [...events, outcome];
    };
    const first = await once();
    expect(first.at(-1)).toBe('succeeded');
    expect(await once()).toEqual(first);
  });
});
