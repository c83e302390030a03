import { describe, expect, it } from 'vitest';
import { definePlan, run } from '../../src/index.js';

/** Three side by side and one behind them. */
function plan(failing: readonly string[]) {
  const ran: string[] = [];
  const task = (id: string) => ({
    id,
    onError: 'settle' as const,
    output: id,
    async run() {
      await Promise.resolve();
      ran.push(id);
      if (failing.includes(id)) throw new Error(`${id} is down`);
      return id;
    },
  });
  const definition = definePlan({
    name: 'settling',
    nodes: [
      task('one'),
      task('two'),
      task('three'),
      { id: 'after', output: 'after', run: ({ two }: { two: string }) => `${two}!` },
    ],
    edges: [
      ['one', 'after'],
      ['two', 'after'],
      ['three', 'after'],
    ],
  });
  return { definition, ran };
}

describe('onError: settle', () => {
  it('[addition 10] what does not depend on a failed node comes to its end; then the run fails, with all failures in plan order', async () => {
    const { definition, ran } = plan(['three', 'one']);
    const { outcome, error, state, census } = await run(definition).result;
    expect(ran).toEqual(['one', 'two', 'three']);
    expect(outcome).toBe('failed');
    expect(error).toMatchObject({
      code: 'SKEIN_STEP_FAILED',
      message: 'task one: one is down; task three: three is down',
      details: {
        failures: [
          { path: 'one', message: 'one is down' },
          { path: 'three', message: 'three is down' },
        ],
      },
    });
    expect(state).toEqual({ two: 'two' });
    expect(census).toMatchObject({ succeeded: 1, failed: 2, skipped: 1, degraded: 0 });
  });

  it('changes nothing where nothing fails', async () => {
    const { outcome, state } = await run(plan([]).definition).result;
    expect([outcome, state]).toEqual(['succeeded', { one: 'one', two: 'two', three: 'three', after: 'two!' }]);
  });
});

describe('a call with an output', () => {
  it('writes its other outputs in addition', async () => {
    const inner = definePlan({
      name: 'inner',
      nodes: [
        { id: 'a', output: 'text', run: () => 'the text' },
        { id: 'b', output: 'note', run: () => 'a note' },
      ],
      edges: [['a', 'b']],
    });
    const outer = definePlan({
      name: 'outer',
      nodes: [{ id: 'call', kind: 'call', plan: inner, output: 'result', outputs: { result: 'text', aside: 'note' } }],
    });
    const { outcome, state } = await run(outer).result;
    expect([outcome, state]).toEqual(['succeeded', { result: 'the text', aside: 'a note' }]);
  });
});
