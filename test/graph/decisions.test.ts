import { describe, expect, test } from 'vitest';
import * as library from 'skein/graph';
import { END, agent, agentNode, goto, graph, reducers, reflectionLoop, workflowNode } from 'skein/graph';
import type { InvariantPolicy } from 'skein/graph';
import { toDot, toMermaid } from 'skein';
import { thrown } from '../thrown.js';

const models = { env: {} };

describe('decision 1: names', () => {
  test('decision 1: a graph has all of them', () => {
    const flow = graph({ name: 'named', maxSteps: 5, answerKey: 'a', taskParam: 'task', policy: 'observe' });
    for (const name of [
      'addNode',
      'addEdge',
      'addConditionalEdge',
      'setEntry',
      'setExit',
      'node',
      'route',
      'map',
      'compile',
      'run',
      'runOrThrow',
      'stream',
      'toMermaid',
      'toDot',
      'dryRun',
      'asAgent',
    ] as const)
      expect(flow[name], name).toBeTypeOf('function');
    flow.node('a', () => 1).setEntry('a');
    expect([flow.nodes.size, flow.edges, flow.conditionalEdges, flow.metrics]).toEqual([1, [], [], null]);
    expect(flow.derivedStateSchema).toEqual({ a: { from: 'node' } });
  });

  test('decision 1: the module has all of them', () => {
    expect(Object.keys(library)).toEqual(
      expect.arrayContaining([
        'END',
        'agentAsTool',
        'agentNode',
        'agentTeam',
        'graph',
        'planAndExecute',
        'reducers',
        'reflectionLoop',
        'toolNode',
        'workflowNode',
      ]),
    );
    expect(Object.keys(reducers).toSorted()).toEqual(['add', 'append', 'extend', 'last', 'mergeDict']);
  });

  test.each<[InvariantPolicy, boolean]>([
    ['ignore', true],
    ['observe', true],
    ['enforce', false],
    ['quickEnforce', false],
  ])('decision 1: the policy %s', async (policy, success) => {
    const invariants = [{ predicate: () => false, message: 'never' }];
    const flow = graph({ invariants, policy })
      .node('a', () => 1)
      .setEntry('a');
    expect((await flow.run()).success).toBe(success);
  });
});

describe('decision 2: the names of a destructured parameter', () => {
  test('decision 2: say what a function reads, with defaults; inputs say it for others', async () => {
    const flow = graph<{ query?: string }>()
      .node('search', ({ query: text = 'x' }) => `${text}!`)
      .node('twice', (state) => state.search + state.search, { inputs: ['search'] })
      .setEntry('search');
    expect((await flow.run()).state.twice).toBe('x!x!');
  });

  test('decision 2: what is not destructured is refused with advice', () => {
    const flow = graph<{ query: string }>()
      .node('search', (state) => state.query)
      .setEntry('search');
    expect(thrown(() => flow.compile()).message).toMatch(/unreadable-parameters: .*\n +hint: .*inputs: \['name'\]/);
  });
});

describe('decision 3: what runs', () => {
  const noted = () => {
    const log: string[] = [];
    const note = (name: string, to?: string) => (): string | undefined => {
      log.push(name);
      return to;
    };
    return { log, note };
  };

  test('decision 3: roots that an exit needs start at once, others do not', async () => {
    const { log, note } = noted();
    const flow = graph<Record<string, unknown>>()
      .node('a', note('a'))
      .node('b', note('b'))
      .node('lonely', note('lonely'))
      .node('join', note('join'))
      .node('after', note('after'))
      .addEdge('a', 'join')
      .addEdge('b', 'join')
      .addEdge('lonely', 'after')
      .setEntry('a');
    await flow.run();
    expect(log).toEqual(['a', 'b', 'join']);
  });

  test('decision 3: a loop with a static leg runs every round', async () => {
    const flow = graph<{ n: number; log: string[] }>({ reducers: { log: 'append' } })
      .addNode('a', ({ n }) => ({ n: n + 1, log: `a${n}` }))
      .addNode('b', ({ n }) => ({ log: `b${n}` }))
      .addEdge('a', 'b')
      .addConditionalEdge('b', ({ n }) => (n < 3 ? 'a' : END), { a: 'a' })
      .setEntry('a');
    expect((await flow.run({ n: 0 })).state.log).toEqual(['a0', 'b1', 'a1', 'b2', 'a2', 'b3']);
  });

  test('decision 3: a join after a branch that was not taken goes on, and an exit ends its branch only', async () => {
    const { log, note } = noted();
    const flow = graph<Record<string, unknown>>()
      .addNode('start', () => null)
      .node('choose', note('choose'))
      .node('left', note('left'))
      .node('right', note('right'))
      .node('join', note('join'))
      .node('other', note('other'))
      .node('never', note('never'))
      .addEdge('start', 'choose')
      .addEdge('start', 'other')
      .addEdge('other', 'never')
      .addEdge('left', 'join')
      .addEdge('right', 'join')
      .route('choose', () => 'left', { targets: ['left', 'right'] })
      .setEntry('start')
      .setExit('other')
      .setExit('join');
    expect((await flow.run()).outcome).toBe('succeeded');
    expect(log.toSorted()).toEqual(['choose', 'join', 'left', 'other']);
  });

  test('decision 3: edges and a choice by hand are refused, an inferred edge never conflicts with a route', async () => {
    const mixed = graph<Record<string, unknown>>()
      .addNode('a', () => null)
      .addNode('b', () => null)
      .addEdge('a', 'b')
      .addConditionalEdge('a', () => 'b')
      .setEntry('a');
    expect(thrown(() => mixed.compile()).message).toContain('mixed-routing');
    const inferred = graph()
      .node('a', () => 'x')
      .node('b', ({ a }) => `${a}b`)
      .node('c', ({ a }) => `${a}c`)
      .route('a', ({ a }) => (a === 'x' ? 'c' : 'b'))
      .setEntry('a');
    expect((await inferred.run()).state).toEqual({ a: 'x', c: 'xc' });
    expect(inferred.edges).toEqual([]);
  });
});

describe('decision 4: state', () => {
  test('decision 4: nested mutation never leaks, not even to the caller', async () => {
    const given = { list: [{ n: 1 }] };
    const flow = graph<{ list: { n: number }[] }>()
      .addNode('a', ({ list }) => {
        for (const item of list) item.n = 2;
      })
      .setEntry('a');
    const { error, state } = await flow.run(given);
    expect(error).toMatchObject({ code: 'SKEIN_STATE_MUTATED' });
    expect([given.list[0]?.n, state.list?.[0]?.n]).toEqual([1, 1]);
    given.list.push({ n: 3 });
    expect(state.list).toHaveLength(1);
  });

  test('decision 4: writers are checked before a run where they are known, else where their paths meet', async () => {
    const two = (options: { writes?: ['key'] }) =>
      graph<{ key: number }>()
        .addNode('start', () => null)
        .addNode('a', () => ({ key: 1 }), options)
        .addNode('b', () => ({ key: 2 }), options)
        .addNode('join', () => null)
        .addEdge('start', 'a')
        .addEdge('start', 'b')
        .addEdge('a', 'join')
        .addEdge('b', 'join')
        .setEntry('start');
    expect(thrown(() => two({ writes: ['key'] }).compile()).message).toMatch(
      /unordered-writers: "a" and "b" both write "key"/,
    );
    const { error } = await two({}).run();
    expect(error).toMatchObject({ code: 'SKEIN_WRITE_CONFLICT' });
    for (const name of ['a', 'b', 'key']) expect(error?.message).toContain(`'${name}'`);
  });

  test('decision 4: branches of which only one runs may write the same key', async () => {
    const flow = graph<{ n: number; key: string }>()
      .addNode('choose', () => null)
      .addNode('a', () => ({ key: 'a' }), { writes: ['key'] })
      .addNode('b', () => ({ key: 'b' }), { writes: ['key'] })
      .addConditionalEdge('choose', ({ n }) => n > 0, { true: 'a', false: 'b' })
      .setEntry('choose');
    expect([(await flow.run({ n: 1 })).state.key, (await flow.run({ n: 0 })).state.key]).toEqual(['a', 'b']);
  });
});

test('decision 5: a failure aborts siblings, a timeout frees the caller, functions and routers may be asynchronous', async () => {
  let aborted = false;
  const flow = graph<{ n: number }>()
    .addNode('start', async () => null)
    .addNode('waits', (_state, { signal }) => {
      signal.addEventListener('abort', () => (aborted = true));
      return new Promise<never>(() => undefined);
    })
    .addNode('late', () => new Promise<never>(() => undefined), { timeoutMs: 1 })
    .addConditionalEdge('start', async () => ['waits', 'late'])
    .setEntry('start');
  const { error } = await flow.run({ n: 1 });
  expect([error?.code, aborted]).toEqual(['SKEIN_TIMEOUT', true]);
});

test('decision 6: with a schema an undeclared key and a wrong type fail the step and name the key', async () => {
  const { z } = await import('zod');
  const run = (update: object) =>
    graph({ state: { n: z.number() } })
      .addNode('a', () => update as { n: number })
      .setEntry('a')
      .run();
  const [undeclared, wrong] = [(await run({ m: 1 })).error, (await run({ n: 'x' })).error];
  expect([undeclared?.code, wrong?.code]).toEqual(['SKEIN_BAD_UPDATE', 'SKEIN_BAD_UPDATE']);
  expect(undeclared?.message).toContain("'m'");
  expect(wrong?.message).toContain("'n'");
});

describe('decision 8: drawings and dry runs', () => {
  const inner = graph<{ task: string }>({ name: 'inner' })
    .node('end', ({ task }) => task, { label: 'the "end" [of] it' })
    .setEntry('end');

  test('decision 8: any name is drawn as a label, and a workflow inside as a subgraph', () => {
    const flow = graph<{ task: string }>()
      .node('a [b] {c} end', ({ task }) => task)
      .node('graph', workflowNode(inner, 'graph'))
      .setEntry('a [b] {c} end');
    const mermaid = flow.toMermaid();
    expect(mermaid).toMatch(/subgraph n\d+\["graph.*"\]\n +n\d+.*the #34;end#34; #91;of#93; it/);
    const lines = mermaid.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^flowchart TD$|^ +(?:n\d|style n\d|subgraph n\d|end$)/);
    const dot = flow.toDot();
    expect(dot).toContain('subgraph');
    expect(dot).toContain('the \\"end\\" [of] it');
  });

  test('decision 8: what only a choice leads to is in no level, and what is required is listed', () => {
    const { levels, conditionalNodes, inputsRequired } = graph<{ task: string }>()
      .node('a', ({ task }) => task)
      .node('b', () => 1)
      .route('a', () => 'b', { targets: ['b'] })
      .setEntry('a')
      .dryRun();
    expect([levels, conditionalNodes, inputsRequired]).toEqual([[['a']], ['b'], ['task']]);
  });

  test('decision 8: the drawings of the library are the same', () => {
    expect([toMermaid(inner.compile().plan), toDot(inner.compile().plan)]).toEqual([
      expect.stringContaining('flowchart'),
      expect.stringContaining('digraph'),
    ]);
  });
});

test.each<[string, boolean]>([
  ['ACCEPT', true],
  ['Well done.\nACCEPT\n', true],
  ['{"accepted": true}', true],
  ['DO NOT ACCEPT', false],
  ['I can not ACCEPT this.', false],
  ['{"accepted": false, "critique": "ACCEPT"}', false],
])('decision 10: the verdict %j of a critic', async (verdict, expected) => {
  const loop = reflectionLoop({ worker: { run: () => 'draft' }, critic: { run: () => verdict }, maxAttempts: 1 });
  const { accepted, answer } = await loop.run('task');
  expect([accepted, answer]).toEqual([expected, 'draft']);
});

test('decision 11: a list, retries, joins, a pause and a graph inside are parts of one graph', async () => {
  let failures = 2;
  const inner = graph<{ task: string }>()
    .node('echo', ({ task }) => `<${task}>`)
    .setEntry('echo');
  const flow = graph<{ words: string[]; task: string }>()
    .map('upper', { over: 'words', item: 'word', concurrency: 1 }, async ({ word }) => word.toUpperCase())
    .node(
      'flaky',
      ({ upper }) => {
        failures -= 1;
        if (failures >= 0) throw new Error('busy');
        return upper.length;
      },
      { retry: { retries: 2, backoff: 'fixed', delayMs: 0, on: 'any' } },
    )
    .node('inside', workflowNode(inner, 'inside'))
    .node('model', agentNode(agent({ name: 'm', model: 'mock/echo' })))
    .node('ask', ({ flaky, inside, model }, step) => step.ask({ text: `${flaky} ${String(inside)} ${model}?` }), {
      join: 'settled',
    })
    .node('end', ({ ask }) => (ask === 'again' ? goto('flaky') : goto(END, `said ${ask}`)), { goto: ['flaky'] })
    .setEntry('upper');
  const { outcome, state, error } = await flow.run(
    { words: ['a', 'bb'], task: 'do' },
    { models, answer: async ({ text }) => `${text} yes` },
  );
  expect(error).toBeUndefined();
  expect(outcome).toBe('succeeded');
  expect(state.end).toBe('said 2 <do> do? yes');
});
