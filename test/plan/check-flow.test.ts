import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { definePlan } from '../../src/plan/builder.js';
import type { NodeInput, PlanInput, StateOf } from '../../src/plan/builder-input.js';
import { checkPlan } from '../../src/plan/checks.js';

const run = (): object => ({});

/** A node that writes the channels in `writes`, a letter each, and reads those in its prompt. */
function node(id: string, writes: string, reads = '', rest: object = {}): NodeInput<StateOf> {
  const prompt = reads.split('').map((channel) => ({ channel }));
  return { kind: 'agent', id, writes: writes.split(''), prompt, ...rest };
}

function check(nodes: readonly NodeInput<StateOf>[], edges: string, rest: Partial<PlanInput> = {}): readonly Problem[] {
  const chains = edges
    .split(' ')
    .filter(Boolean)
    .map((chain) => chain.split(''));
  return checkPlan(definePlan({ name: 'p', nodes, edges: chains, ...rest }).plan);
}

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) => problem.code);
}

describe('references', () => {
  it('to what is neither an input nor written are errors, with advice', () => {
    const problems = checkPlan(
      definePlan({
        name: 'p',
        inputs: ['topic'],
        nodes: [
          { id: 'a', kind: 'agent', prompt: '{{ topci }}', output: 'draft', agent: { instructions: '{{nope}}' } },
          {
            id: 'b',
            run,
            output: 'x',
            when: [{ op: 'contains', value: { channel: 'drafd' }, operand: [{ channel: 'no' }] }],
          },
          { id: 'q', kind: 'ask', question: '{{ gone }}', output: 'y' },
        ],
        edges: [['a', 'b', 'q']],
        routes: [
          { from: 'q', cases: [{ when: { op: 'matches_json', value: { channel: 'huh' }, operand: 1 }, to: 'END' }] },
        ],
      }).plan,
    );
    expect(problems.map((problem) => [problem.code, problem.path, problem.hint])).toEqual([
      ['unknown-reference', 'routes[0].cases[0].when[0].value', 'known are: topic, draft, x, y'],
      ['unknown-reference', 'nodes[0].agent.instructions[0]', 'known are: topic, draft, x, y'],
      ['unknown-reference', 'nodes[0].prompt[0]', 'did you mean "topic"?'],
      ['unknown-reference', 'nodes[1].when[0].value', 'did you mean "draft"?'],
      ['unknown-reference', 'nodes[1].when[0].operand[0]', 'known are: topic, draft, x, y'],
      ['unknown-reference', 'nodes[2].question[0]', 'known are: topic, draft, x, y'],
    ]);
  });

  it('in expressions count too', () => {
    const when = { op: 'cel', expression: 'v.x == 1', vars: { v: { fields: { x: { channel: 'gone' } } } } } as const;
    expect(check([node('a', 'w', '', { when })], '')).toMatchObject([
      { code: 'unknown-reference', path: 'nodes[0].when[0].vars.v' },
    ]);
  });

  it('to what can not have run before are errors (statements 17 and 30)', () => {
    const sibling = check([node('s', 's'), node('a', 'a'), node('b', 'b', 'a')], 'sa sb');
    expect(sibling).toMatchObject([{ code: 'not-upstream', path: 'nodes[2].prompt[0]' }]);
    expect(sibling[0]?.message).toBe('"b" reads "a", which is written by "a": that can\'t have run before it');
    expect(codes(check([node('a', 'a', 'b'), node('b', 'b')], 'ab'))).toEqual(['not-upstream']);
    expect(codes(check([node('a', 'a', 'a')], ''))).toEqual(['not-upstream']);
  });

  it('may go far up, over any path, and around a cycle', () => {
    expect(check([node('a', 'a'), node('b', 'b'), node('c', 'c', 'ab')], 'abc')).toEqual([]);
    const routes = [{ from: 'b', choose: () => 'a', targets: ['a', 'END'] }];
    expect(check([node('a', 'a', 'b'), node('b', 'b', 'ab')], 'ab', { entry: 'a', routes })).toEqual([]);
    expect(check([node('a', 'a', 'a'), node('b', 'b')], 'ab', { entry: 'a', routes })).toEqual([]);
  });

  it('to one of several writers need one of them upstream', () => {
    const nodes = [node('s', 's'), node('a', 'x'), node('b', 'x'), node('c', 'c', 'x')];
    const routes = [{ from: 's', choose: () => 'a', targets: ['a', 'b'] }];
    expect(check(nodes, 'ac', { routes })).toEqual([]);
  });

  it('of a route see what its node wrote', () => {
    const cases = [{ when: { op: 'contains', value: { channel: 'a' }, operand: ['x'] } as const, to: 'END' }];
    expect(check([node('a', 'a')], '', { routes: [{ from: 'a', cases }] })).toEqual([]);
    expect(codes(check([node('a', 'a'), node('b', 'b')], 'ba', { routes: [{ from: 'b', cases }] }))).toEqual([
      'not-upstream',
    ]);
  });

  it('are not judged where a function may write anything', () => {
    expect(check([{ id: 'f', run }, node('b', 'b', 'z')], 'fb')).toEqual([]);
    expect(codes(check([{ id: 'f', run }, node('b', 'b', 'z')], 'bf'))).toEqual(['not-upstream']);
  });

  it('agree with a search over all paths', () => {
    const graphs = fc.record({
      pairs: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 14 }),
      back: fc.option(fc.tuple(fc.nat(7), fc.nat(7)), { nil: undefined }),
      reads: fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(graphs, ({ pairs, back, reads }) => {
        const ids = 'abcdefgh'.split('');
        const name = (at: number): string => ids[at] ?? '';
        const forward = pairs.filter(([from, to]) => from < to);
        const all = [...forward, ...(back === undefined ? [] : [back])];
        const reaches = (from: number, to: number): boolean => {
          const seen = new Set<number>(all.flatMap(([a, b]) => (a === from ? [b] : [])));
          for (const at of seen) for (const [a, b] of all) if (a === at) seen.add(b);
          return seen.has(to);
        };
        const nodes = ids.map((id, at) =>
          node(
            id,
            id,
            reads
              .filter(([reader]) => reader === at)
              .map(([, of]) => name(of))
              .join(''),
          ),
        );
        const routes =
          back === undefined ? [] : [{ from: name(back[0]), choose: () => 'END', targets: [name(back[1])] }];
        const edges = forward.map(([from, to]) => name(from) + name(to)).join(' ');
        const found = check(nodes, edges, { routes }).filter((problem) => problem.code === 'not-upstream');
        const expected = reads.filter(([reader, of]) => !reaches(of, reader));
        expect(found).toHaveLength(expected.length);
      }),
    );
  });
});

describe('two writers of a channel', () => {
  const fork = [node('s', 's'), node('a', 'x'), node('b', 'x'), node('j', 'j')];

  it('that run side by side need a reducer (S3)', () => {
    const problems = check(fork, 'saj sbj');
    expect(problems).toMatchObject([{ code: 'unordered-writers', severity: 'error', path: 'nodes[2]' }]);
    expect(problems[0]?.message).toBe('"a" and "b" both write "x", and neither runs before the other');
    expect(check(fork, 'saj sbj', { channels: { x: 'append' } })).toEqual([]);
    expect(codes(check(fork, 'saj sbj', { channels: { x: {} } }))).toEqual(['unordered-writers']);
  });

  it('that run one after the other do not', () => {
    expect(check(fork, 'sabj')).toEqual([]);
    expect(check([node('a', 'x'), node('b', 'x'), node('c', 'x')], 'abc')).toEqual([]);
  });

  it('that exclude each other do not: targets of one route, and what lies behind them', () => {
    const routes = [{ from: 's', choose: () => 'a', targets: ['a', 'b'] }];
    expect(check(fork, 'aj bj', { routes })).toEqual([]);
    const deep = [node('s', 's'), node('a', ''), node('b', ''), node('c', 'x'), node('d', 'x'), node('j', 'j')];
    expect(check(deep, 'acj bdj', { routes })).toEqual([]);
    // d can be reached past the route.
    expect(codes(check(deep, 'acj bd sd dj', { routes }))).toEqual(['unordered-writers']);
  });

  it('that one case names together do not exclude each other', () => {
    const cases = [{ when: 's == "x"', to: ['a', 'b'] }];
    expect(codes(check(fork, 'aj bj', { routes: [{ from: 's', cases }] }))).toEqual(['unordered-writers']);
    const apart = [{ when: 's == "x"', to: 'a' }];
    expect(check(fork, 'aj bj', { routes: [{ from: 's', cases: apart, otherwise: 'b' }] })).toEqual([]);
  });

  it('that are chosen by different routes do not exclude each other', () => {
    const routes = ['a', 'b'].map((to) => ({ from: 's', cases: [{ when: 's == "x"', to }] }));
    expect(codes(check(fork, 'aj bj', { routes }))).toEqual(['unordered-writers']);
  });

  it('exclude each other when one handles the failure of what the other depends on', () => {
    const nodes = [node('s', 's', '', { onError: { to: 'b' } }), node('a', 'x'), node('b', 'x')];
    expect(check(nodes, 'sa')).toEqual([]);
  });

  it('have an order where one node runs at a time, whichever way it takes', () => {
    const nodes = ['s', 'a', 'b', 'c'].map((id) => node(id, 'x'));
    const to = (from: string, targets: readonly string[]) => ({ from, choose: () => 'c', targets });
    const routes = [to('s', ['a', 'b', 'c']), to('a', ['b', 'c', 's']), to('b', ['a', 's']), to('c', ['END'])];
    const verdict = (edges: string, rest: Partial<PlanInput> = {}, all = nodes): readonly string[] =>
      codes(check(all, edges, { entry: 's', routes, ...rest }));
    expect(verdict('')).toEqual([]);
    // After "a", two may run.
    expect(verdict('ac')).toEqual(['unordered-writers']);
    const both = { from: 'a', cases: [{ when: 'x == "x"', to: ['b', 'c'] }] };
    expect(verdict('', { routes: [...routes.filter(({ from }) => from !== 'a'), both] })).toEqual([
      'unordered-writers',
    ]);
    // Another node starts, too.
    expect(verdict('zc', {}, [...nodes, node('z', 'x')])).toEqual(['unordered-writers']);
  });

  it('are warned of where a condition or an early join may keep one out', () => {
    const conditional = [node('s', 's'), node('a', 'x', '', { when: 's == "x"' }), node('b', 'x')];
    expect(check(conditional, 'sa sb')).toMatchObject([{ code: 'unordered-writers', severity: 'warning' }]);
    const race = [node('a', 'x'), node('b', 'x'), node('j', 'j', '', { join: 'any' })];
    expect(check(race, 'aj bj')).toMatchObject([{ code: 'unordered-writers', severity: 'warning' }]);
  });

  it('are reported once for a channel, and for each channel', () => {
    const nodes = [node('a', 'xy'), node('b', 'xy'), node('c', 'x')];
    expect(codes(check(nodes, ''))).toEqual(['unordered-writers', 'unordered-writers']);
  });

  it('agree with a search over all paths', () => {
    const graphs = fc.record({
      pairs: fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 20 }),
      writers: fc.uniqueArray(fc.nat(9), { minLength: 2, maxLength: 6 }),
    });
    fc.assert(
      fc.property(graphs, ({ pairs, writers }) => {
        const ids = 'abcdefghij'.split('');
        const forward = pairs.filter(([from, to]) => from < to);
        const reaches = (from: number, to: number): boolean => {
          const seen = new Set([from]);
          for (const at of seen) for (const [a, b] of forward) if (a === at) seen.add(b);
          return seen.has(to);
        };
        const nodes = ids.map((id, at) => node(id, writers.includes(at) ? 'x' : ''));
        const edges = forward.map(([from, to]) => `${ids[from]}${ids[to]}`).join(' ');
        const found = codes(check(nodes, edges)).includes('unordered-writers');
        const expected = writers.some((a) => writers.some((b) => a < b && !reaches(a, b)));
        expect(found).toBe(expected);
      }),
    );
  });
});

describe('sub-plans', () => {
  const inner = definePlan({
    name: 'inner',
    inputs: ['item', { name: 'tone', default: 'dry' }],
    nodes: [{ id: 'w', kind: 'agent', prompt: '{{ item }} {{ tone }}', output: 'text' }],
  });
  const map = (rest: object): NodeInput<StateOf> => {
    const base = {
      id: 'm',
      over: { channel: 'list' },
      item: 'item',
      result: 'text',
      maxItems: 9,
      output: 'out',
    } as const;
    return { ...base, kind: 'map', plan: inner, ...rest };
  };
  const inputs = ['list'];

  it('get what they need, and give what they have', () => {
    expect(check([map({})], '', { inputs })).toEqual([]);
    expect(check([map({ inputs: { tone: { channel: 'list' } } })], '', { inputs })).toEqual([]);
    expect(check([map({ item: 'itme' })], '', { inputs })).toMatchObject([
      { code: 'unknown-channel', path: 'nodes[0].item', hint: 'did you mean "item"?' },
      { code: 'missing-input', path: 'nodes[0].inputs' },
    ]);
    expect(codes(check([map({ result: 'txt', inputs: { tune: { value: 1 } } })], '', { inputs }))).toEqual([
      'unknown-channel',
      'unknown-channel',
    ]);
    expect(codes(check([map({ over: { channel: 'lost' } })], '', { inputs }))).toEqual(['unknown-reference']);
  });

  it('take inputs of the same name, and required ones from somewhere', () => {
    const call = (rest: object): NodeInput<StateOf> => ({ id: 'c', kind: 'call', plan: inner, ...rest });
    expect(codes(check([call({})], '', { inputs }))).toEqual(['missing-input']);
    expect(check([call({})], '', { inputs: ['item'] })).toEqual([]);
    expect(check([call({ inputs: { item: { channel: 'list' } }, outputs: { y: 'text' } })], '', { inputs })).toEqual(
      [],
    );
    expect(
      codes(check([call({ outputs: { y: 'nope' } }), call({ id: 'd', writes: ['nope'] })], '', { inputs: ['item'] })),
    ).toEqual(['unknown-channel', 'unknown-channel']);
  });

  it('that loop carry and end on channels of their own', () => {
    const loop = (rest: object): NodeInput<StateOf> => ({
      id: 'l',
      kind: 'loop',
      plan: inner,
      until: 'text != ""',
      maxRounds: 2,
      ...rest,
    });
    expect(check([loop({ carry: ['text'] })], '', { inputs: ['item'] })).toEqual([]);
    const until = { op: 'contains', value: { channel: 'nope' }, operand: ['x'] };
    expect(check([loop({ carry: ['txet'], until })], '', { inputs: ['item'] })).toMatchObject([
      { code: 'unknown-channel', path: 'nodes[0].carry[0]', hint: 'did you mean "text"?' },
      { code: 'unknown-reference', path: 'nodes[0].until[0].value' },
    ]);
  });
});
