import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { graph } from 'skein/graph';

it('an event that says where it happened inside of a node is told below that node, and its own metadata wins', async () => {
  const flow = graph()
    .node(
      'outer',
      (_state, step) => {
        step.emit({ type: 'mark', path: 'part/leaf', size: 1, metadata: { size: 2 } });
        return '';
      },
      { inputs: [] },
    )
    .setEntry('outer');
  const { events } = await flow.run();
  const mark = events.find(({ type }) => type === 'mark');
  expect([mark?.path, mark?.metadata]).toEqual(['outer/part/leaf', { size: 2 }]);
});

it('[53] the answer of a run that did not write its key is what the last node gave', async () => {
  const flow = graph<{ n: number }>({ answerKey: 'big' })
    .node('small', ({ n }) => `small ${n}`)
    .node('big', ({ small }) => `big ${small}`)
    .route('small', ({ n }) => (n > 5 ? 'big' : 'END'), { targets: ['big'] })
    .setEntry('small');
  expect((await flow.run({ n: 9 })).answer).toBe('big small 9');
  expect((await flow.run({ n: 1 })).answer).toBe('small 1');
});

it('[50] an estimated cost is known under both of its names', async () => {
  for (const key of ['estimatedCostUsd', 'estimated_cost_usd']) {
    const seen: number[] = [];
    const predicate = ({ estimatedCostUsd }: { readonly estimatedCostUsd: number }): boolean => {
      seen.push(estimatedCostUsd);
      return true;
    };
    const flow = graph<Record<string, unknown>>({ invariants: [{ predicate, message: 'm' }] })
      .addNode('pay', () => ({ [key]: 0.5 }))
      .setEntry('pay');
    await flow.run();
    expect(seen).toEqual([0.5]);
  }
});

describe('of several exits that run', () => {
  /** The first of the two to end lets the other one end. */
  const flowWith = (first: 'x' | 'y') => {
    let open: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const end = async (id: 'x' | 'y'): Promise<string> => {
      if (first !== id) await gate;
      setImmediate(() => open());
      return id;
    };
    return graph({ name: 'both' })
      .node('a', () => 1)
      .node('x', async ({ a }) => (await end('x')) + a)
      .node('y', async ({ a }) => (await end('y')) + a);
  };

  it.each(['x', 'y'] as const)('the one that was added last has the answer, though %s ends first', async (first) => {
    const { answer, nodesRun } = await flowWith(first).run({});
    expect([answer, nodesRun]).toEqual(['y1', ['a', first, first === 'x' ? 'y' : 'x']]);
    const store = memoryStore();
    const recorded = await flowWith(first).run({}, { store });
    const again = await flowWith(first).run({}, { store, resume: recorded.runId });
    expect([recorded.answer, again.answer]).toEqual(['y1', 'y1']);
    expect((await flowWith(first).asAgent().run('Go.')).answer).toBe('y1');
    for await (const { type, metadata } of flowWith(first).stream({}))
      if (type === 'answer') expect(metadata).toMatchObject({ answer: 'y1' });
  });
});
