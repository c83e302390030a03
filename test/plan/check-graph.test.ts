import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { checkPlan } from '../../src/plan/checks.js';
import type { Edge, Plan, PlanNode, Route } from '../../src/plan/plan.js';

function nodesOf(ids: string, changes: Readonly<Record<string, object>> = {}): PlanNode[] {
  return ids.split('').map((id) => ({ kind: 'task', id, writes: [], ...changes[id] }));
}

function edgesOf(text: string): Edge[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((pair): Edge => ({ from: pair.charAt(0), to: pair.charAt(1) }));
}

function check(nodes: readonly PlanNode[], edges: string, rest: Partial<Plan> = {}): readonly Problem[] {
  return checkPlan({
    format: 1,
    name: 'p',
    inputs: [],
    channels: [],
    nodes,
    edges: edgesOf(edges),
    routes: [],
    ...rest,
  });
}

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) => problem.code);
}

describe('cycles of static edges', () => {
  it('are errors, with the path of a real cycle', () => {
    const problems = check(nodesOf('abcd'), 'ab bc cd db');
    expect(codes(problems)).toEqual(['static-cycle']);
    expect(problems[0]?.message).toContain('b -> c -> d -> b');
    expect(check(nodesOf('ab'), 'ab bb')[0]?.message).toContain('b -> b');
  });

  it('are found one by one where they are apart', () => {
    const problems = check(nodesOf('abcdef', {}), 'ab bc cb de ed', { entry: 'a' });
    expect(problems.filter((problem) => problem.code === 'static-cycle').map((problem) => problem.message)).toEqual([
      expect.stringContaining('b -> c -> b'),
      expect.stringContaining('d -> e -> d'),
    ]);
  });

  it('may be closed by a route, which can end them', () => {
    const routes: Route[] = [{ from: 'c', choose: 'code', targets: ['a', 'END'] }];
    expect(check(nodesOf('abc'), 'ab bc', { routes, entry: 'a' })).toEqual([]);
  });

  it('leave a plan without a start', () => {
    expect(codes(check(nodesOf('ab'), 'ab ba'))).toEqual(['missing-entry', 'static-cycle']);
    const routes: Route[] = [{ from: 'b', choose: 'code', targets: ['a', 'END'] }];
    const [problem] = check(nodesOf('ab'), 'ab', { routes });
    expect(problem).toMatchObject({ code: 'missing-entry', hint: 'name the node that starts as the entry' });
  });
});

describe('nodes that nothing leads to', () => {
  it('are warned of', () => {
    const problems = check(nodesOf('abxy'), 'ab xy', { entry: 'a' });
    expect(problems.map((problem) => [problem.code, problem.severity, problem.path])).toEqual([
      ['unreachable-node', 'warning', 'nodes[2]'],
      ['unreachable-node', 'warning', 'nodes[3]'],
    ]);
  });

  it('are none where a route may lead anywhere, a handler leads to them, or they start by themselves (E6)', () => {
    expect(check(nodesOf('abx'), 'ab', { entry: 'a', routes: [{ from: 'b', choose: 'code' }] })).toEqual([]);
    expect(check(nodesOf('abx', { a: { onError: { to: 'x' } } }), 'ab', { entry: 'a' })).toEqual([]);
    expect(check(nodesOf('abx'), 'ab xb', { entry: 'a' })).toEqual([]);
  });
});

describe('joins', () => {
  it('that wait for more branches than there are can never fill (E2)', () => {
    const joined = (quorum: number): readonly Problem[] => check(nodesOf('abj', { j: { join: { quorum } } }), 'aj bj');
    expect(joined(2)).toEqual([]);
    expect(joined(3)).toMatchObject([
      { code: 'join-never-fills', path: 'nodes[2].join.quorum', hint: 'ask for 2 at most' },
    ]);
    expect(codes(joined(0))).toEqual(['bad-limit']);
  });

  it('do not count an edge that leads back (E3)', () => {
    const routes: Route[] = [{ from: 'c', choose: 'code', targets: ['j', 'END'] }];
    const problems = check(nodesOf('abjc', { j: { join: { quorum: 3 } } }), 'aj bj jc', { routes });
    expect(codes(problems)).toEqual(['join-never-fills']);
  });
});

describe('routes', () => {
  const after = (route: Partial<Route>, rest: Partial<Plan> = { entry: 'a' }): readonly string[] =>
    codes(
      check(nodesOf('abc'), 'ac', {
        routes: [
          { from: 'a', ...route },
          { from: 'c', choose: 'code', targets: ['b'] },
        ],
        ...rest,
      }),
    );

  it('[XG1] without declared targets leave nothing else to start by itself, but the entry or the only node that can (E6)', () => {
    expect(after({ choose: 'code' })).toEqual([]);
    expect(after({ choose: 'code' }, {})).toEqual([]);
    const beside = (rest: Partial<Plan>, mentions?: readonly string[]): readonly Problem[] =>
      check(nodesOf('adjx'), 'aj xj ad', {
        routes: [{ from: 'd', choose: 'code', ...(mentions === undefined ? {} : { mentions }) }],
        ...rest,
      });
    expect(beside({ entry: 'a' })).toMatchObject([
      {
        code: 'ambiguous-start',
        path: 'nodes[3]',
        hint: 'declare the targets of the route after "d", or add an edge that leads to "x"',
      },
    ]);
    expect(beside({ entry: 'a' }, ['x'])).toEqual([]);
    expect(codes(beside({}))).toEqual(['ambiguous-start', 'ambiguous-start']);
    expect(beside({}, ['x'])).toEqual([]);
    expect(beside({ entry: 'a', routes: [{ from: 'd', choose: 'code', targets: ['END'] }] })).toEqual([]);
  });

  it('have either a function or cases', () => {
    expect(after({ targets: ['b'] })).toEqual(['bad-route']);
    expect(after({ choose: 'code', cases: [{ when: [], to: ['b'] }] })).toEqual(['bad-route']);
    expect(after({ cases: [{ when: [], to: ['b'] }], map: { x: 'b' } })).toEqual(['bad-route']);
    expect(after({ cases: [{ when: [], to: [] }] })).toEqual(['bad-route']);
    expect(after({ cases: [{ when: [{ op: 'code' }], to: ['b'] }] })).toEqual(['bad-route']);
    expect(after({ cases: [{ when: [], to: ['b', 'END'] }], otherwise: ['END'] })).toEqual([]);
  });

  it('choose among the targets that they declare', () => {
    expect(after({ choose: 'code', targets: ['b'], map: { x: 'c', y: 'END' } })).toEqual(['undeclared-target']);
    expect(after({ cases: [{ when: [], to: ['c'] }], otherwise: ['c'], targets: ['b'] })).toEqual([
      'undeclared-target',
      'undeclared-target',
    ]);
  });

  it('with functions are one for a node', () => {
    const routes: Route[] = ['b', 'c'].map((to) => ({ from: 'a', choose: 'code', targets: [to] }));
    expect(codes(check(nodesOf('abc'), '', { routes }))).toEqual(['duplicate-route']);
  });
});

describe('bounds', () => {
  const inner: Plan = {
    format: 1,
    name: 'i',
    inputs: [{ name: 'x', channel: 'x', required: false }],
    channels: [],
    nodes: nodesOf('z', { z: { output: 'y' } }),
    edges: [],
    routes: [],
  };
  const loop = (rest: object): PlanNode => ({ kind: 'loop', id: 'l', plan: inner, until: [], maxRounds: 3, ...rest });
  const map = (rest: object): PlanNode => ({
    kind: 'map',
    id: 'm',
    plan: inner,
    over: { channel: 'list' },
    item: 'x',
    result: 'y',
    maxItems: 3,
    ...rest,
  });
  const list = { inputs: [{ name: 'list', channel: 'list', required: true }] };

  it('are required for loops and maps', () => {
    expect(codes(check([loop({ maxRounds: undefined })], ''))).toEqual(['unbounded-loop']);
    expect(codes(check([map({ maxItems: undefined })], '', list))).toEqual(['unbounded-map']);
    expect(check([loop({}), map({})], '', list)).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 1_000_001])('are whole numbers that bound something: not %s', (bound) => {
    expect(codes(check([loop({ maxRounds: bound })], ''))).toEqual(['bad-limit']);
    expect(codes(check([map({ maxItems: bound })], '', list))).toEqual(['bad-limit']);
    expect(codes(check(nodesOf('a', { a: { maxVisits: bound } }), ''))).toEqual(['bad-limit']);
  });

  it('of time, retries and agents are checked too', () => {
    const bad: object[] = [
      { timeoutMs: 0 },
      { timeoutMs: 2 ** 31 },
      { retry: { retries: -1, backoff: 'fixed', delayMs: 0 } },
      { retry: { retries: 1, backoff: 'fixed', delayMs: Infinity } },
      { retry: { retries: 1, backoff: 'fixed', delayMs: 1, jitter: 2 } },
    ];
    for (const change of bad)
      expect(codes(check(nodesOf('a', { a: change }), '')), JSON.stringify(change)).toEqual(['bad-limit']);
    expect(codes(check(nodesOf('a'), '', { limits: { maxSteps: 0, concurrency: 0.5 } }))).toEqual([
      'bad-limit',
      'bad-limit',
    ]);
    const agent = {
      kind: 'agent',
      prompt: [],
      agent: { name: 'a', instructions: [], models: [], maxTurns: 0, maxToolCalls: -1 },
    };
    expect(codes(check(nodesOf('a', { a: agent }), ''))).toEqual(['bad-limit', 'bad-limit']);
    const cut = { channel: 'list', truncate: { strategy: 'chars', limit: -1 } };
    expect(
      codes(
        check(
          nodesOf('a', { a: { ...agent, agent: { ...agent.agent, maxTurns: 1, maxToolCalls: 0 }, prompt: [cut] } }),
          '',
          list,
        ),
      ),
    ).toEqual(['bad-limit']);
  });

  it('make a wait wait for something', () => {
    expect(codes(check(nodesOf('a', { a: { kind: 'wait' } }), ''))).toEqual(['bad-wait']);
    expect(check(nodesOf('a', { a: { kind: 'wait', event: 'e' } }), '')).toEqual([]);
  });
});

describe('expressions', () => {
  it('are compiled, wherever they stand', () => {
    const bad = { op: 'cel', expression: 'x ===', vars: {} } as const;
    const problems = check(nodesOf('ab', { a: { when: [bad] } }), 'ab', {
      routes: [{ from: 'b', cases: [{ when: [bad], to: ['END'] }] }],
    });
    expect(problems.map((problem) => [problem.code, problem.path])).toEqual([
      ['bad-expression', 'routes[0].cases[0].when[0].expression'],
      ['bad-expression', 'nodes[0].when[0].expression'],
    ]);
    expect(problems[1]?.message).toMatch(/line 1, column 5/);
  });
});
