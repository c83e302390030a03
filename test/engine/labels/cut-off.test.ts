import { describe, expect, test } from 'vitest';
import type { Executor } from '../../../src/engine/ports/executor.js';
import { startRun } from '../../../src/engine/run.js';
import type { RunResult } from '../../../src/engine/run.js';
import { memoryStore, run } from '../../../src/index.js';
import type { Plan, PlanNode } from '../../../src/plan/plan.js';
import { plan, task, type State } from '../plans.js';

const NOTES = { name: 'notes', channel: 'notes', required: true };

/** Runs a plan whose notes are somebody else's; gives the names of what they influenced. */
async function labelledIn(graph: Plan, bindings: Record<string, unknown>, notes: unknown = 'a'): Promise<string[]> {
  return labelledBy(await startRun(graph, { inputs: { notes }, bindings, untrusted: ['notes'] }).result);
}

function labelledBy({ labels = {} }: RunResult): string[] {
  return Object.keys(labels).filter((name) => labels[name]?.sources.includes('input:notes') === true);
}

function inside(node: PlanNode): Plan {
  return plan({ inputs: [NOTES], channels: ['notes'], nodes: [node] });
}

describe('what is cut off had heard what it had heard', () => {
  test('a step in a plan in a plan that takes too long', async () => {
    const slow = inside(task('slow'));
    const call = (id: string, sub: Plan, more: Partial<PlanNode> = {}): PlanNode =>
      ({ id, kind: 'call', plan: sub, inputs: { notes: { channel: 'notes' } }, outputs: {}, ...more }) as PlanNode;
    const graph = plan({
      inputs: [NOTES],
      channels: ['notes', 'word'],
      nodes: [
        call('outer', inside(call('inner', slow)), { timeoutMs: 1, onError: 'continue' }),
        task('after', { join: 'settled' }),
      ],
      edges: ['outer>after'],
    });
    const bindings = {
      'outer/inner/slow': (state: State) => (state['notes'] === 'a' ? new Promise(() => undefined) : {}),
      after: () => ({ word: 'went on' }),
    };
    expect(await labelledIn(graph, bindings)).toContain('word');
  });

  test('a step whose contribution does not go with what is there', async () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => (value === 5 ? { value } : { issues: [{ message: `not ${String(value)}` }] }),
      },
    };
    const graph = plan({
      inputs: [{ name: 'notes', channel: 'sum', required: true }],
      channels: ['sum:add', 'word'],
      nodes: [task('adds', { onError: 'continue' }), task('after', { join: 'settled' })],
      edges: ['adds>after'],
    });
    const bindings = { adds: () => ({ sum: 1 }), after: () => ({ word: 'went on' }), 'schema:sum': schema };
    const found = await labelledIn(graph, bindings, 5);
    expect(found).toContain('word');
  });

  test('a step of which it depended on another one whether it had a visit left', async () => {
    const counted = {
      ...task('counted', { join: 'each', maxVisits: 1, onMaxVisits: 'skip' }),
      kind: 'agent',
      agent: {},
    };
    const graph = plan({
      inputs: [NOTES],
      channels: ['notes'],
      nodes: [task('asks'), task('other'), counted as unknown as PlanNode],
      edges: ['other>counted'],
      routes: [{ from: 'asks', choose: 'code', targets: ['counted'] }],
    });
    const bindings = {
      asks: () => ({}),
      'route:asks': ({ notes }: State) => (notes === 'a' ? 'counted' : 'END'),
      other: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    };
    const knows: boolean[] = [];
    const agent: Executor = (_node, step) => {
      knows.push(step.influence.label().sources.includes('input:notes'));
      return Promise.resolve({ type: 'done', output: undefined });
    };
    for (const notes of ['a', 'b'])
      await startRun(graph, { inputs: { notes }, bindings, untrusted: ['notes'], executors: { agent } }).result;
    expect(knows).toEqual([true, true]);
  });
});

describe('what is answered from the record had read what it had read', () => {
  test('a part of a step that goes on after a crash', async () => {
    const store = memoryStore();
    let tries = 0;
    const graph = plan({
      inputs: [NOTES],
      channels: ['notes', 'word'],
      nodes: [{ id: 'asks', kind: 'task' }],
    });
    const bindings = {
      asks: async (
        state: State,
        step: {
          run<T>(name: string, part: () => T): Promise<T>;
          ask(question: { text: string }): Promise<string>;
        },
      ) => {
        tries += 1;
        const part = await step.run('part', () => `${String(state['notes'])}!`);
        await step.ask({ text: 'Go on?' });
        return { word: part };
      },
    };
    const first = { inputs: { notes: 'a' }, untrusted: ['notes'], store, runId: 'one' };
    const paused = await run({ plan: graph, bindings }, first).result;
    expect(paused.outcome).toBe('paused');
    const again = await run({ plan: graph, bindings }, { store, resume: 'one', answer: () => Promise.resolve('yes') })
      .result;
    expect([again.outcome, tries, labelledBy(again)]).toEqual(['succeeded', 2, ['notes', 'word']]);
  });
});

describe('what a plan gives that could have failed, where the plan around goes on then', () => {
  const doubts = (state: State): object => {
    if (state['notes'] === 'b') throw new Error('no');
    return {};
  };
  const sub = plan({
    inputs: [NOTES],
    channels: ['notes', 'made', 'item'],
    nodes: [task('makes'), task('doubts')],
  });
  const around = (box: object): Plan =>
    plan({
      inputs: [NOTES],
      channels: ['notes', 'items', 'made', 'kept', 'word'],
      nodes: [task('lists'), box as PlanNode, task('after', { join: 'settled' })],
      edges: ['lists>box', 'box>after'],
    });
  const inputs = { notes: { channel: 'notes' } };
  const items = { over: { channel: 'items' }, item: 'item', result: 'made', maxItems: 2, output: 'made', outputs: {} };
  const bindings = {
    lists: () => ({ items: ['one'], kept: 'own' }),
    'box/makes': () => ({ made: 'own' }),
    'box/doubts': doubts,
    after: () => ({ word: 'went on' }),
  };

  test.each([
    ['a call', { id: 'box', kind: 'call', plan: sub, inputs, outputs: { made: 'made' }, onError: 'continue' }],
    ['an item of a map', { id: 'box', kind: 'map', plan: sub, inputs, ...items, onItemError: 'continue' }],
    ['a branch of a group', { id: 'box', kind: 'map', plan: sub, inputs, ...items, require: 1, onError: 'settle' }],
  ])('%s: that it succeeded is known by what it gives', async (_, box) => {
    expect(await labelledIn(around(box), bindings, 'a')).toContain('made');
  });

  test('says nothing where its failure ends the run', async () => {
    const box = { id: 'box', kind: 'call', plan: sub, inputs, outputs: { made: 'made' } };
    expect(await labelledIn(around(box), bindings, 'a')).toEqual(['notes']);
  });
});
