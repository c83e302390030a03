import { answerRun, memoryStore } from 'skein';
import { END, graph, reducers, workflowNode } from 'skein/graph';
import { boom } from './behaviour.js';
import type { Behaviour } from './behaviour.js';

export const FAILURES: readonly Behaviour[] = [
  {
    feature: 'recursion limit',
    from: 'pregel.test.ts: a recursion limit of one for two nodes',
    what: 'more nodes one after another than the limit of this run allows end it',
    verdict: 'same',
    async run() {
      const walk = graph<{ at: string }>()
        .addNode('gate', () => ({ at: 'gate' }))
        .addNode('hall', () => ({ at: 'hall' }))
        .addEdge('gate', 'hall')
        .setEntry('gate');
      const { outcome, error, state } = await walk.run({}, { maxSteps: 1 });
      return [outcome, error?.code, state.at];
    },
    gives: ['failed', 'SKEIN_MAX_STEPS', 'gate'],
  },
  {
    feature: 'recursion limit',
    from: 'pregel.test.ts: checkpoint events, with the limit of 25 in their config',
    what: 'a chain of 40 nodes, and no limit given',
    verdict: { differs: 'it runs: the limit is the longest path and 100 more, so that only loops reach it' },
    async run() {
      const chain = graph<{ n: number }>();
      for (let at = 0; at < 40; at += 1) chain.addNode(`n${at}`, ({ n }) => ({ n: n + 1 }));
      for (let at = 1; at < 40; at += 1) chain.addEdge(`n${at - 1}`, `n${at}`);
      return (await chain.setEntry('n0').run({ n: 0 })).state.n;
    },
    gives: 40,
  },
  {
    feature: 'recursion limit',
    from: 'pregel.test.ts: a recursion limit of one for two nodes, and none for the same graph',
    what: 'the limit belongs to the run: what reached it goes on with a higher one',
    verdict: 'same',
    async run() {
      let calls = 0;
      const climb = graph<{ floor: number }>()
        .addNode('up', ({ floor }) => {
          calls += 1;
          return { floor: floor + 1 };
        })
        .addConditionalEdge('up', ({ floor }) => (floor < 9 ? 'up' : END), { up: 'up' })
        .setEntry('up');
      const store = memoryStore();
      const first = await climb.run({ floor: 0 }, { store, maxSteps: 4 });
      const second = await climb.run({}, { store, resume: first.runId, maxSteps: 20 });
      return [first.error?.code, first.state.floor, second.state.floor, calls];
    },
    gives: ['SKEIN_MAX_STEPS', 4, 9, 9],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: the handler runs once the retries are used up',
    what: 'a node that takes over is told what failed, after the last attempt',
    verdict: 'same',
    async run() {
      let tries = 0;
      const press = graph<{ page: string; plan: unknown }>()
        .node(
          'page',
          () => {
            tries += 1;
            return boom('paper jam')();
          },
          { inputs: [], retry: { retries: 2, delayMs: 1 }, onError: { to: 'instead' } },
        )
        .addNode('instead', (_state, step) => {
          const [failure] = step.arrivals;
          return { plan: [tries, failure?.from, failure?.kind, failure?.error?.message] };
        })
        .setEntry('page');
      return (await press.run()).state.plan;
    },
    gives: [3, 'page', 'failed', 'paper jam'],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: the handler routes to a recovery branch',
    what: 'what follows the node that takes over runs as if nothing had happened',
    verdict: 'same',
    async run() {
      const oven = graph<{ bread: string }>()
        .addNode('bake', boom('too hot'), { onError: { to: 'buy' } })
        .addNode('buy', () => ({ bread: 'bought' }))
        .addNode('slice', ({ bread }) => ({ bread: `${bread}, sliced` }))
        .addEdge('buy', 'slice')
        .setEntry('bake');
      return (await oven.run()).state.bread;
    },
    gives: 'bought, sliced',
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: a handler that throws',
    what: 'a node that takes over and fails too ends the run, with its own error',
    verdict: 'same',
    async run() {
      const oven = graph<{ bread: string }>()
        .addNode('bake', boom('too hot'), { onError: { to: 'buy' } })
        .addNode('buy', boom('the shop is closed'))
        .setEntry('bake');
      const { outcome, error } = await oven.run();
      return [outcome, error?.message];
    },
    gives: ['failed', 'the shop is closed'],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: a failure inside a subgraph',
    what: 'a failure inside an inner graph is taken over by the handler of its node',
    verdict: 'same',
    async run() {
      const inner = graph<{ task: string }>().node('deep', ({ task }) => boom(`no ${task}`)());
      const outer = graph<{ task: string; plan: unknown }>()
        .addNode('sub', workflowNode(inner, 'sub'), { onError: { to: 'instead' } })
        .addNode('instead', (_state, step) => ({ plan: step.arrivals.map(({ from, kind }) => [from, kind]) }))
        .setEntry('sub');
      return (await outer.run({ task: 'luck' })).state.plan;
    },
    gives: [['sub', 'failed']],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: the failure is still known after a resume',
    what: 'a node that takes over may stop for a question, and knows the failure when it goes on',
    verdict: 'same',
    async run() {
      const press = graph<{ plan: string }>()
        .addNode('print', boom('no ink'), { onError: { to: 'instead' } })
        .addNode('instead', async (_state, step) => {
          const told = await step.ask({ text: 'What now?' });
          return { plan: `${step.arrivals[0]?.error?.message}: ${told}` };
        })
        .setEntry('print');
      const store = memoryStore();
      const { runId } = await press.run({}, { store });
      answerRun(store, runId, { value: 'buy some' });
      return (await press.run({}, { store, resume: runId })).state.plan;
    },
    gives: 'no ink: buy some',
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: a concurrent interrupt is not swallowed',
    what: 'a question of a node with a handler is no failure',
    verdict: 'same',
    async run() {
      const press = graph<{ plan: string }>()
        .addNode('ask', async (_state, step) => ({ plan: await step.ask({ text: 'Which colour?' }) }), {
          onError: { to: 'instead' },
        })
        .addNode('instead', () => ({ plan: 'black' }))
        .setEntry('ask');
      const store = memoryStore();
      const { runId, outcome } = await press.run({}, { store });
      answerRun(store, runId, { value: 'red' });
      return [outcome, (await press.run({}, { store, resume: runId })).state.plan];
    },
    gives: ['paused', 'red'],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: each failure goes to the handler of its own node',
    what: 'two nodes with handlers of their own',
    verdict: 'same',
    async run() {
      const road = graph<{ way: string; log: string[] }>({ reducers: { log: reducers.append } })
        .addNode('fork', () => null)
        .addNode('bridge', boom('washed away'), { onError: { to: 'ferry' } })
        .addNode('tunnel', boom('flooded'), { onError: { to: 'pass' } })
        .addNode('ferry', (_state, step) => ({ log: `ferry for ${step.arrivals[0]?.from}` }))
        .addNode('pass', (_state, step) => ({ log: `pass for ${step.arrivals[0]?.from}` }))
        .addConditionalEdge('fork', ({ way }) => way, { bridge: 'bridge', tunnel: 'tunnel' })
        .setEntry('fork');
      const runs = [await road.run({ way: 'bridge' }), await road.run({ way: 'tunnel' })];
      return runs.map(({ state }) => state.log);
    },
    gives: [['ferry for bridge'], ['pass for tunnel']],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: a node without a handler',
    what: 'a failure that nobody handles',
    verdict: { differs: '`run` gives the verdict and the state so far; only `runOrThrow` throws' },
    async run() {
      const press = graph<{ page: string }>()
        .addNode('set', () => ({ page: 'set' }))
        .addNode('print', boom('no ink'))
        .addEdge('set', 'print')
        .setEntry('set');
      const { outcome, error, state } = await press.run();
      const thrown: unknown = await press.runOrThrow().catch((caught: unknown) => caught);
      return [outcome, error?.message, state.page, thrown instanceof Error && thrown.message];
    },
    gives: ['failed', 'no ink', 'set', 'no ink'],
  },
  {
    feature: 'error handler',
    from: 'node_error_handler.test.ts: a handler that is an async function',
    what: 'the verdict of a run in which a failure was handled',
    verdict: { differs: 'it is degraded, and the census counts it: nobody takes it for a run without trouble' },
    async run() {
      const oven = graph<{ bread: string }>()
        .addNode('bake', boom('too hot'), { onError: { to: 'buy' } })
        .addNode('buy', () => ({ bread: 'bought' }))
        .setEntry('bake');
      const { outcome, success, census } = await oven.run();
      return [outcome, success, census.degraded];
    },
    gives: ['degraded', true, 1],
  },
];
