import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, readRun, run } from 'skein';

const list = { id: 'list', output: 'list', run: () => ['a'] };
const inner = definePlan({
  name: 'inner',
  inputs: [{ name: 'item', required: false }],
  nodes: [
    {
      id: 'work',
      output: 'ok',
      run: (_, step) => {
        if (step.path.startsWith('flaky') && !step.path.includes('~2')) throw new Error('the first time it fails');
        return 1;
      },
    },
  ],
});

/** Nodes without a record of their own: what they hold, or nothing. */
const NODES = {
  map: {
    id: 'it',
    kind: 'map',
    plan: inner,
    over: { channel: 'list' },
    item: 'item',
    result: 'ok',
    output: 'oks',
    maxItems: 2,
  },
  call: { id: 'it', kind: 'call', plan: inner, outputs: { ok: 'ok' } },
  loop: { id: 'it', kind: 'loop', plan: inner, outputs: { ok: 'ok' }, until: () => true, maxRounds: 2 },
  pass: { id: 'it', kind: 'pass' },
  set: { id: 'it', kind: 'set', values: { a: 1 }, output: 'set' },
} as const;

const stepsOf = (store: ReturnType<typeof memoryStore>) =>
  readRun(store, 'r').steps.map(({ path, outcome }) => `${path} ${outcome}`);

describe('the overview of a run that failed after a node without a record of its own', () => {
  it.each(Object.entries(NODES))(
    'does not list it as interrupted, though its route is recorded: %s',
    async (_, node) => {
      const bad = { id: 'bad', run: () => Promise.reject(new Error('it was to fail')) };
      const workflow = definePlan({
        name: 'routed',
        nodes: [list, node, bad],
        edges: [['list', 'it']],
        routes: [{ from: 'it', choose: () => 'bad', targets: ['bad'] }],
      });
      const store = memoryStore();
      const { outcome, steps } = await run(workflow, { store, runId: 'r' }).result;
      expect([outcome, steps.map(({ path }) => path)]).toEqual(['failed', ['bad']]);
      expect(stepsOf(store).filter((step) => !step.includes('/work'))).toEqual(['list succeeded', 'bad failed']);
    },
  );

  it('does not list it as interrupted, though its retry is recorded', async () => {
    const retry = { retries: 1, on: 'any', delayMs: 1, backoff: 'fixed' } as const;
    const flaky = { ...NODES.call, id: 'flaky', retry };
    const gate = { id: 'gate', kind: 'ask', question: 'Go?', output: 'go' } as const;
    const workflow = definePlan({ name: 'retried', nodes: [flaky, gate], edges: [['flaky', 'gate']] });
    const store = memoryStore();
    expect((await run(workflow, { store, runId: 'r' }).result).outcome).toBe('paused');
    expect(stepsOf(store)).toEqual(['flaky/work succeeded', 'gate paused']);
  });
});
