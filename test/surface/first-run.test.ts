import { expect, it } from 'vitest';
import { imported } from '../cli/support/evaluated.js';

/** The code that carries out runs is loaded when the first one starts: nothing else about that run may differ. */
const FLOW = `import { definePlan, memoryStore, run, startRun } from 'skein';
  const flow = definePlan({
    name: 'f',
    inputs: ['list'],
    nodes: [
      { id: 'a', kind: 'task', run: ({ list }) => ({ count: list.length }) },
      { id: 'b', kind: 'task', run: async ({ list }) => ({ sum: list.length }) },
      { id: 'c', kind: 'task', run: ({ count, sum }) => ({ both: count + sum }) },
    ],
    edges: [['a', 'c'], ['b', 'c']],
  });
  const inputs = { list: [1, 2] };
  const same = (one, other) => { process.exitCode = JSON.stringify(one) === JSON.stringify(other) ? 0 : 1; };`;

it('the first run refuses at once what every run refuses at once', async () => {
  const code = `${FLOW}
    const wrong = [
      () => run(flow, { inputs: {} }),
      () => run(flow, { inputs: { ...inputs, strange: 1 } }),
      () => run(flow, { inputs: {}, store: memoryStore() }),
      () => run(flow, { inputs, untrusted: ['strange'] }),
      () => run(flow, { inptus: inputs }),
      () => run(flow, { inputs, maxSteps: 0 }),
      () => run(flow, { inputs, resume: 'r' }),
      () => run(flow, { inputs, fork: { run: 'r' } }),
      () => run(flow, { inputs, thread: 't' }),
      () => run(flow, { inputs, budget: '+0.50' }),
      () => run(flow, { inputs, budget: '+0.50', store: memoryStore() }),
      () => run({ ...flow, plan: { ...flow.plan, edges: [{ from: 'a', to: 'z' }] } }, { inputs }),
      () => run({ plan: flow.plan }, { inputs }),
      () => startRun(flow.plan, { inputs }),
      () => startRun(flow.plan, { inputs: {}, bindings: flow.bindings }),
    ];
    const refused = () => wrong.map((start) => {
      try {
        return start().runId;
      } catch ({ code, message, hint }) {
        return [code, message, hint];
      }
    });
    const first = refused();
    await run(flow, { inputs }).result;
    same([first, 0], [refused(), first.filter((one) => !Array.isArray(one)).length]);`;
  expect(await imported(code)).toContain('src/engine/run.ts');
});

it('what concerns a record rejects the result, of the first run as of others', async () => {
  const code = `${FLOW}
    const store = memoryStore();
    const wrong = [{ resume: 'none' }, { fork: { run: 'none' } }, { resume: 'r', store: { create: () => undefined, run: () => { throw new Error('broken'); } } }];
    const rejected = () => Promise.all(wrong.map((options) => run(flow, { inputs, store, ...options }).result.catch(({ code, message }) => [code, message])));
    const first = await rejected();
    await run(flow, { inputs }).result;
    same([first, 3], [await rejected(), first.filter(Array.isArray).length]);`;
  expect(await imported(code)).toContain('src/engine/run.ts');
});

it('with skein/testing, a run starts at once: a test decides what happens next', async () => {
  const code = `${FLOW}
    const { ManualDurable } = await import('skein/testing');
    const durable = new ManualDurable();
    startRun(flow.plan, { inputs, bindings: flow.bindings, durable });
    same(durable.pending.length > 0, true);`;
  expect(await imported(code)).toContain('src/engine/run.ts');
});

it('the first run has the events, the result and the id that others have', async () => {
  const code = `${FLOW}
    const told = async (options) => {
      const events = [];
      const handle = run(flow, { inputs, runId: 'r', listeners: [({ type, path, seq }) => events.push([type, path, seq])], ...options });
      const { state, outcome, runId } = await handle.result;
      return [events, state, outcome, runId, handle.runId];
    };
    same(await told(), await told());`;
  expect(await imported(code)).toContain('src/engine/run.ts');
});

it('the first run has the script that it was given', async () => {
  const code = `${FLOW}
    const agent = { name: 'a', instructions: 'You help.', models: [] };
    const asking = definePlan({ name: 'g', nodes: [{ id: 'a', kind: 'agent', agent, prompt: 'Hello', output: 'said' }] });
    const script = { rules: [{ answer: 'kept' }] };
    const { result } = run(asking, { models: { script } });
    script.rules[0].answer = 'changed';
    same((await result).state.said, 'kept');`;
  expect(await imported(code)).toContain('src/engine/run.ts');
});

it.each(['run', 'startRun'])(
  'the first %s is cancelled as others are, by its handle or by a signal',
  async (method) => {
    const code = `${FLOW}
    const options = ${method === 'run' ? '{ inputs }' : '{ inputs, bindings: flow.bindings }'};
    const start = (more) => ${method}(${method === 'run' ? 'flow' : 'flow.plan'}, { ...options, ...more });
    const handle = start();
    handle.cancel('enough');
    const stop = new AbortController();
    const other = start({ signal: stop.signal });
    stop.abort(new Error('too much'));
    const ended = [await handle.result, await other.result].map(({ outcome, error }) => [outcome, error?.message]);
    same(ended, [['cancelled', 'enough'], ['cancelled', 'too much']]);`;
    expect(await imported(code)).toContain('src/engine/run.ts');
  },
);
