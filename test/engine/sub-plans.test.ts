import { describe, expect, test } from 'vitest';
import type { LoopNode, MapNode, Plan } from '../../src/plan/plan.js';
import { fails, outcomes, plan, run, task, writes, type State } from './plans.js';

const input = (channel: string): Plan['inputs'][number] => ({ channel, name: channel, required: false });

describe('call', () => {
  const inner = plan({
    nodes: ['double'],
    inputs: [input('n'), { ...input('by'), default: 2 }],
    channels: ['twice'],
  });

  test('takes its inputs from the state, and gives back what `outputs` names, nothing else', async () => {
    const outer = plan({
      nodes: [
        task('first'),
        { kind: 'call', id: 'sub', plan: inner, inputs: { n: { channel: 'a' } }, outputs: { b: 'twice' } },
      ],
      edges: ['first>sub'],
      channels: ['a', 'b', 'twice'],
    });
    const { result, events } = await run(outer, {
      first: writes({ a: 21, by: 100 }),
      'sub/double': (state: State) => ({ twice: Number(state.n) * Number(state.by) }),
    });
    expect(result.state).toEqual({ a: 21, by: 100, b: 42 });
    expect(result.census.succeeded).toBe(3);
    const started = events.flatMap((event) => (event.type === 'step.started' ? [`${event.parent}>${event.path}`] : []));
    expect(started).toEqual(['>first', '>sub', 'sub>sub/double']);
  });

  test('without `inputs` and `outputs`, channels of the same name', async () => {
    const outer = plan({
      nodes: [{ kind: 'call', id: 'sub', plan: inner, writes: ['twice'] }],
      inputs: [input('n'), input('by')],
    });
    const double = (state: State): unknown => ({ twice: Number(state.n) * Number(state.by) });
    expect((await run(outer, { 'sub/double': double }, { inputs: { n: 3, by: 5 } })).result.state.twice).toBe(15);
    expect((await run(outer, { 'sub/double': double }, { inputs: { n: 3 } })).result.state.twice).toBe(6);
  });

  test('fails as the step inside failed; its own onError decides what that means', async () => {
    const sub = { kind: 'call', id: 'sub', plan: inner, inputs: { n: { value: 1 } } } as const;
    const strict = await run(plan({ nodes: [sub] }), { 'sub/double': fails('no number') });
    expect(strict.result).toMatchObject({ outcome: 'failed', error: { message: 'no number' } });
    const lenient = await run(plan({ nodes: [{ ...sub, onError: 'continue' }] }), { 'sub/double': fails() });
    expect(lenient.result.outcome).toBe('degraded');
    expect(outcomes(lenient.result)).toEqual({ 'sub/double': 'failed', sub: 'failed' });
  });
});

describe('map', () => {
  const item = plan({ nodes: ['work'], inputs: [input('item'), input('unit')], channels: ['out'] });
  const over = (more: Partial<MapNode> = {}): Plan =>
    plan({
      nodes: [
        {
          kind: 'map',
          id: 'each',
          plan: item,
          over: { channel: 'items' },
          item: 'item',
          result: 'out',
          output: 'all',
          maxItems: 3,
          inputs: { unit: { channel: 'unit' } },
          ...more,
        },
      ],
      inputs: [input('items'), input('unit')],
      channels: ['all'],
    });
  const work = (state: State): unknown => ({ out: [state.item, state.unit].join('') });

  test('results are in the order of the items, whatever ended first', async () => {
    const order = ['each[2]/work', 'each[0]/work', 'each[1]/work'];
    const { result } = await run(
      over(),
      { 'each/work': work },
      { order, inputs: { items: ['a', 'b', 'c'], unit: '!' } },
    );
    expect(result.state.all).toEqual(['a!', 'b!', 'c!']);
    expect(result.census.succeeded).toBe(4);
  });

  test('`concurrency` bounds how many items are open at once', async () => {
    let open = 0;
    let most = 0;
    const slow = async (state: State): Promise<unknown> => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return work(state);
    };
    const { result } = await run(over({ concurrency: 2 }), { 'each/work': slow }, { inputs: { items: [1, 2, 3] } });
    expect(result.state.all).toEqual(['1', '2', '3']);
    expect(most).toBe(2);
  });

  test('`key` names the items in paths; a repeated or missing one fails the step before an item starts', async () => {
    const keyed = over({ key: ['file', 'name'] });
    const files = (...names: unknown[]): unknown[] => names.map((name) => ({ file: { name } }));
    const { events } = await run(keyed, { 'each/work': work }, { inputs: { items: files('a.ts', 'src/b ts', 7) } });
    const paths = events.flatMap((event) => (event.type === 'step.started' ? [event.path] : []));
    expect(paths).toEqual(['each', 'each[a.ts]/work', 'each[src_b_ts]/work', 'each[7]/work']);
    for (const items of [files('a', 'a'), files('a', undefined), files({})]) {
      const { result, started } = await run(keyed, { 'each/work': work }, { inputs: { items } });
      expect(result.error?.code).toBe('SKEIN_INPUT');
      expect(started).toEqual(['each']);
    }
  });

  test('invisible characters of a key are seen in paths', async () => {
    const keyed = over({ key: ['name'], maxItems: 20 });
    const hidden = ['\u200b', '\u2060', '\u00ad', '\ufeff', '\u{e0041}', '\u202e'];
    const items = [
      ...hidden.map((char, at) => ({ name: `${at}${char}a` })),
      { name: 'b' },
      { name: 'x\u200b' },
      { name: 'x_' },
    ];
    const { events } = await run(keyed, { 'each/work': work }, { inputs: { items } });
    const paths = events.flatMap((event) => (event.type === 'step.started' ? [event.path] : []));
    const keys = paths.flatMap((path) => /^each\[(.*)\]/.exec(path)?.[1] ?? []);
    expect(keys).toEqual([...hidden.map((_, at) => `${at}_a`), 'b', 'x%E2%80%8B', 'x_']);
  });

  test('more than maxItems, or no list, fails the step before an item starts; a list as JSON text is one', async () => {
    const codes = [];
    for (const items of [[1, 2, 3, 4], 'no list', 5]) {
      const { result, started } = await run(over(), { 'each/work': work }, { inputs: { items } });
      codes.push(result.error?.code);
      expect(started).toEqual(['each']);
    }
    expect(codes).toEqual(['SKEIN_MAX_ITEMS', 'SKEIN_NOT_A_LIST', 'SKEIN_NOT_A_LIST']);
    const text = await run(over(), { 'each/work': work }, { inputs: { items: '["x"]' } });
    expect(text.result.state.all).toEqual(['x']);
    const none = await run(over(), { 'each/work': work }, { inputs: { items: [] } });
    expect(none.result.state.all).toEqual([]);
  });

  test('a failed item fails the step and ends the others; with onItemError `continue` it gives null', async () => {
    const picky = (state: State): unknown => (state.item === 'b' ? fails('not b')() : work(state));
    const inputs = { items: ['a', 'b', 'c'] };
    const order = ['each[1]/work', 'each[0]/work', 'each[2]/work'];
    const strict = (await run(over(), { 'each/work': picky }, { inputs, order })).result;
    expect(strict).toMatchObject({ outcome: 'failed', error: { message: 'not b' } });
    expect(strict.census).toMatchObject({ succeeded: 0, failed: 2, cancelled: 2 });
    const lenient = (await run(over({ onItemError: 'continue' }), { 'each/work': picky }, { inputs, order })).result;
    expect(lenient.state.all).toEqual(['a', null, 'c']);
    expect(lenient.outcome).toBe('degraded');
  });
});

describe('loop', () => {
  const round = plan({ nodes: ['work'], inputs: [input('start'), input('draft')], channels: ['draft', 'seen'] });
  const looped = (more: Partial<LoopNode> = {}): Plan =>
    plan({
      nodes: [
        {
          kind: 'loop',
          id: 'again',
          plan: round,
          inputs: { start: { channel: 'start' } },
          outputs: { final: 'draft', seen: 'seen' },
          until: [{ op: 'contains', value: { channel: 'draft' }, operand: ['xxx'] }],
          carry: ['draft'],
          maxRounds: 5,
          ...more,
        },
      ],
      inputs: [input('start')],
    });
  const work = (state: State): unknown => ({
    draft: `${String(state.draft ?? state.start)}x`,
    seen: state.seen ?? 'none',
  });

  test('goes on until the condition holds; only `carry` goes from round to round', async () => {
    const { result, events } = await run(looped(), { 'again/work': work }, { inputs: { start: '>' } });
    expect(result.state).toEqual({ start: '>', final: '>xxx', seen: 'none' });
    const paths = events.flatMap((event) => (event.type === 'step.started' ? [event.path] : []));
    expect(paths).toEqual(['again', 'again#1/work', 'again#2/work', 'again#3/work']);
    const forgetful = await run(
      looped({ carry: [], onMaxRounds: 'continue' }),
      { 'again/work': work },
      { inputs: { start: '>' } },
    );
    expect(forgetful.result.state.final).toBe('>x');
  });

  test('`until` in code gets the state of the round and its number', async () => {
    const asked: unknown[] = [];
    const until = (state: State, number: number): boolean => asked.push([state.draft, number]) === 2;
    await run(
      looped({ until: [{ op: 'code' }] }),
      { 'again/work': work, 'until:again': until },
      { inputs: { start: '' } },
    );
    expect(asked).toEqual([
      ['x', 1],
      ['xx', 2],
    ]);
  });

  test('at maxRounds it fails, or goes on with what there is and a warning', async () => {
    const inputs = { start: '' };
    const strict = (await run(looped({ maxRounds: 2 }), { 'again/work': work }, { inputs })).result;
    expect(strict).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_MAX_ROUNDS' } });
    const lenient = await run(looped({ maxRounds: 2, onMaxRounds: 'continue' }), { 'again/work': work }, { inputs });
    expect(lenient.result).toMatchObject({ outcome: 'succeeded', state: { final: 'xx' } });
    expect(lenient.events).toContainEqual(
      expect.objectContaining({ type: 'run.warning', code: 'max-rounds', path: 'again' }),
    );
  });
});
