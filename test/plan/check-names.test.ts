import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { checkPlan } from '../../src/plan/checks.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';

function task(id: string, rest: object = {}): PlanNode {
  return { kind: 'task', id, writes: [], ...rest };
}

function planOf(nodes: readonly PlanNode[], rest: Partial<Plan> = {}): Plan {
  return { format: 1, name: 'p', inputs: [], channels: [], nodes, edges: [], routes: [], ...rest };
}

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) => problem.code);
}

describe('names of nodes', () => {
  it('are short and made of letters, digits, "_", "-" and "."', () => {
    for (const id of ['a', 'A-1_x.y', '0', '_', '-']) expect(checkPlan(planOf([task(id)])), id).toEqual([]);
    const bad = [
      '',
      ' ',
      'a b',
      'a/b',
      '../a',
      '.',
      '..',
      '.hidden',
      'ü',
      'END',
      'a\u0000',
      '__proto__',
      'constructor',
      'prototype',
      'x'.repeat(201),
    ];
    for (const id of bad) {
      const problems = checkPlan(planOf([task(id)]));
      expect(codes(problems), JSON.stringify(id)).toEqual(['bad-id']);
      expect(problems[0]?.hint).toBeTruthy();
      expect(problems[0]?.path).toBe('nodes[0].id');
    }
  });

  it('are given once', () => {
    const problems = checkPlan(planOf([task('a'), task('b'), task('a'), task('a')]));
    expect(problems.map((problem) => [problem.code, problem.path])).toEqual([
      ['duplicate-id', 'nodes[2].id'],
      ['duplicate-id', 'nodes[3].id'],
    ]);
  });

  it('are needed: a plan without nodes has nothing to run', () => {
    expect(codes(checkPlan(planOf([])))).toEqual(['no-nodes']);
  });
});

describe('names of channels', () => {
  it('do not reach into objects of the host (A8)', () => {
    for (const name of ['', '__proto__', 'a.constructor', 'prototype.x']) {
      expect(codes(checkPlan(planOf([task('a', { writes: [name] })]))), name).toEqual(['bad-channel']);
      const inputs = [{ name: 'x', channel: name, required: false }];
      expect(codes(checkPlan(planOf([task('a')], { inputs }))), name).toEqual(['bad-channel']);
    }
    expect(checkPlan(planOf([task('a', { writes: ['inputs.x', 'anything goes', 'toString'] })]))).toEqual([]);
  });

  it('are declared once', () => {
    const inputs = ['x', 'x'].map((name) => ({ name, channel: name, required: false }));
    const channels = [{ name: 'c' }, { name: 'c' }];
    expect(codes(checkPlan(planOf([task('a')], { inputs, channels })))).toEqual([
      'duplicate-channel',
      'duplicate-channel',
    ]);
  });
});

describe('names that lead nowhere', () => {
  it('are found wherever a node is named, with advice', () => {
    const plan = planOf(
      [task('fetch', { onError: { to: 'h1' }, onMaxVisits: { to: 'h2' }, maxVisits: 1 }), task('report')],
      {
        entry: 'fetsh',
        exits: ['done'],
        edges: [
          { from: 'fetch', to: 'repotr' },
          { from: 'ghost', to: 'report' },
        ],
        routes: [
          { from: 'nobody', choose: 'code', targets: ['t1', 'END'] },
          { from: 'report', choose: 'code', map: { a: 't2', b: 'END' } },
          { from: 'report', cases: [{ when: [], to: ['t3'] }], otherwise: ['t4'] },
        ],
      },
    );
    const unknown = checkPlan(plan).filter((problem) => problem.code === 'unknown-node');
    expect(unknown.map((problem) => [problem.path, problem.hint])).toEqual([
      ['entry', 'did you mean "fetch"?'],
      ['exits[0]', 'nodes are: fetch, report'],
      ['edges[0].to', 'did you mean "report"?'],
      ['edges[1].from', 'nodes are: fetch, report'],
      ['routes[0].from', 'nodes are: fetch, report'],
      ['routes[0].targets[0]', 'nodes are: fetch, report'],
      ['routes[1].map.a', 'nodes are: fetch, report'],
      ['routes[2].cases[0].to[0]', 'nodes are: fetch, report'],
      ['routes[2].otherwise[0]', 'nodes are: fetch, report'],
      ['nodes[0].onError.to', 'nodes are: fetch, report'],
      ['nodes[0].onMaxVisits.to', 'nodes are: fetch, report'],
    ]);
  });
});

describe('problems of sub-plans', () => {
  const inner = planOf([task('x y'), task('ok')], { edges: [{ from: 'ok', to: 'nope' }] });

  it('come after those of the plan around, and say where they are', () => {
    const plan = planOf([{ kind: 'call', id: 'outer', plan: inner }, task('bad id')]);
    expect(checkPlan(plan).map((problem) => [problem.code, problem.path])).toEqual([
      ['bad-id', 'nodes[1].id'],
      ['unknown-node', 'nodes[0].plan.edges[0].to'],
      ['bad-id', 'nodes[0].plan.nodes[0].id'],
    ]);
    expect(checkPlan(plan)[2]?.message).toContain('"outer/x y"');
  });

  it('end at a depth of 50, and at a plan that contains itself', () => {
    let plan = planOf([task('leaf')]);
    for (let depth = 0; depth < 60; depth += 1) plan = planOf([{ kind: 'call', id: 'c', plan }]);
    expect(codes(checkPlan(plan))).toEqual(['nested-too-deep']);
    const nodes: PlanNode[] = [];
    const circle = planOf(nodes);
    nodes.push({ kind: 'call', id: 'c', plan: circle });
    expect(codes(checkPlan(circle))).toEqual(['nested-too-deep']);
  });

  it('carry the position of their node', () => {
    const at = { file: 'w.yaml', line: 3, column: 5 };
    expect(checkPlan(planOf([task('a b', { at })]))[0]?.at).toEqual(at);
  });
});

describe('functions', () => {
  const plan = planOf(
    [
      task('a', { when: [{ op: 'code' }] }),
      {
        kind: 'loop',
        id: 'l',
        maxRounds: 2,
        until: [{ op: 'code' }],
        plan: planOf([task('in')], { routes: [{ from: 'in', choose: 'code', targets: ['END'] }] }),
      },
    ],
    { channels: [{ name: 'c', reducer: 'code' }], routes: [{ from: 'a', choose: 'code', targets: ['l'] }] },
  );
  const keys = ['channel:c', 'route:a', 'a', 'when:a', 'until:l', 'l/route:in', 'l/in'];
  const bindings = Object.fromEntries(keys.map((key) => [key, () => true]));

  it('are all there, or reported one by one', () => {
    expect(checkPlan(plan, bindings)).toEqual([]);
    for (const key of keys) {
      const problems = checkPlan(plan, { ...bindings, [key]: undefined });
      expect(codes(problems), key).toEqual(['missing-binding']);
      expect(problems[0]?.hint).toContain(JSON.stringify(key));
    }
    expect(codes(checkPlan(plan, {}))).toHaveLength(keys.length);
  });

  it('are not asked for when nobody says which there are', () => {
    expect(checkPlan(plan)).toEqual([]);
  });

  it('are own properties of the bindings (A8)', () => {
    expect(codes(checkPlan(planOf([task('toString')]), {}))).toEqual(['missing-binding']);
  });
});
