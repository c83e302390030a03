import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import { BROKEN, dag, pipeline, ran, step, wrong } from './loops.js';

const agent = (id: string): string => `{ id: ${id}, type: agent, name: w, prompt: "${id}?" }`;
const parallel = (require: string | number): string =>
  pipeline(
    `{ id: all, type: parallel, require: ${require}, steps: [${['a', 'b', 'c'].map(agent).join(', ')}] }`,
    agent('after'),
  );

describe('[addition 10] require in a pipeline', () => {
  it('of a parallel block: so many of its steps must succeed, and the others see their ends', async () => {
    const enough = await ran(parallel(2), { b: [BROKEN] });
    expect([enough.outcome, enough.census.degraded, enough.asked.length]).toEqual(['degraded', 1, 4]);
    const few = await ran(parallel(2), { b: [BROKEN], c: [BROKEN] });
    expect([few.outcome, few.error?.code]).toEqual(['failed', 'SKEIN_REQUIRE']);
    const all = await ran(parallel('all'), { a: [BROKEN] });
    expect([all.outcome, all.asked.map((each) => each.split(':')[0])]).toEqual(['failed', ['all/a', 'all/b', 'all/c']]);
  });

  it('of a map: failed items are left out, and too few fail it', async () => {
    const map = pipeline(
      '{ id: list, type: agent, name: l }',
      `{ id: each, type: map, over: $steps.list.output.all, require: 2, steps: [{ id: x, type: agent, name: w, prompt: "{{ $item }}" }] }`,
    );
    const two = await ran(map, { list: ['{"all": [1, 2]}'] });
    expect([two.outcome, two.state['steps.each.output']]).toEqual(['succeeded', ['ok', 'ok']]);
    const short = await ran(map, { list: ['{"all": [1]}'] });
    expect(short.error?.message).toContain('1 item succeeded, and 2 must');
  });

  it('keeps what succeeded when the run is resumed', async () => {
    const store = memoryStore();
    const first = await ran(parallel('all'), { b: [BROKEN] }, { store });
    const again = await ran(parallel('all'), {}, { store, resume: first.runId });
    expect([again.outcome, again.asked.map((each) => each.split(':')[0])]).toEqual(['succeeded', ['all/b', 'after']]);
  });

  it('[bad-require] is reported for what is no number of its parts', async () => {
    for (const require of [0, 4, 1.5, '"some"', '[1]', 'true'])
      expect((await wrong(parallel(require))).join(), String(require)).toContain('bad-require');
    const map = (require: number): string =>
      pipeline(
        agent('a'),
        `{ type: map, over: $steps.a.output, max_items: 5, require: ${require}, steps: [${agent('x')}] }`,
      );
    expect(await wrong(map(5))).toEqual([]);
    // Steps that are missing are one problem, whatever must succeed of them.
    const empty = await wrong(pipeline('{ id: all, type: parallel, require: 2, steps: [] }'));
    expect(empty).toEqual([expect.stringContaining('empty-block')]);
    expect((await wrong(map(6))).join()).toContain('and it has 5 items at most');
  });
});

describe('[addition 10] require in a DAG workflow', () => {
  const map = (require: string | number, items = 3): string =>
    dag(
      step('list', 'List.', 'schema: { all: [string] }'),
      `{ id: each, depends_on: [list], type: map, over: steps.list.output.all, as: item, require: ${require}, max_items: ${items}, steps: [${step('x', '{{ item }}')}, ${step('y', 'y of {{ item }}', 'depends_on: [x]')}] }`,
      step('after', '{{steps.each.output}} {{steps.each.errors}}', 'depends_on: [each]'),
    );
  const of = (...names: readonly string[]): readonly string[] => [JSON.stringify({ all: names })];

  it('of a map: an item that fails cancels no other, is left out, and degrades the run', async () => {
    const end = await ran(map(2), { list: of('a', 'b', 'c'), x: ['1', BROKEN, '3'], y: ['one', 'three'] });
    expect([end.outcome, end.census.degraded, end.state['steps.each.output']]).toEqual([
      'degraded',
      1,
      ['one', 'three'],
    ]);
    expect(end.asked.at(-1)).toBe('after: ["one","three"] [{"index":1,"key":"1","message":"no model"}]');
    expect(end.asked.filter((each) => each.includes('/y'))).toEqual(['each[0]/y: y of a', 'each[2]/y: y of c']);
  });

  it('of a map: too few, also of a list that is shorter than that, fail it once all have ended', async () => {
    const few = await ran(map(3), { list: of('a', 'b', 'c'), y: ['one', BROKEN, 'three'] });
    expect([few.outcome, few.error?.code]).toEqual(['failed', 'SKEIN_REQUIRE']);
    expect(few.error?.message).toBe('2 items succeeded, and 3 must: each[1]: no model');
    expect(few.asked.filter((each) => each.includes('/y')).length).toBe(3);
    const short = await ran(map(3), { list: of('a', 'b') });
    expect([short.error?.code, short.error?.message]).toEqual(['SKEIN_REQUIRE', '2 items succeeded, and 3 must']);
    const none = await ran(map(1), { list: of() });
    expect(none.error?.message).toBe('0 items succeeded, and 1 must');
    expect((await ran(map('all'), { list: of() })).outcome).toBe('succeeded');
    expect((await wrong(map(4))).join()).toContain('bad-require');
  });

  it('keeps the items that succeeded when the run is resumed, and asks again what failed', async () => {
    const store = memoryStore();
    const list = of('a', 'b', 'c');
    const first = await ran(map('all'), { list, y: ['one', BROKEN, 'three'] }, { store });
    expect([first.outcome, first.error?.code]).toEqual(['failed', 'SKEIN_REQUIRE']);
    const fork = await ran(map('all'), { list, y: ['two'] }, { store, fork: { run: first.runId } });
    expect([fork.outcome, fork.asked.length]).toEqual(['succeeded', 2]);
    const again = await ran(map('all'), { list, y: ['two'] }, { store, resume: first.runId });
    expect([again.outcome, again.state['steps.each.output']]).toEqual(['succeeded', ['one', 'two', 'three']]);
    expect(again.asked.map((each) => each.split(':')[0])).toEqual(['each[1]/y', 'after']);
  });
});

describe('[addition 10] require in TypeScript', () => {
  it('holds for the branches of a workflow that is a node, and for the items of a map', async () => {
    const inner = graph<{ a?: string; b?: string }>()
      .addNode('left', () => ({ a: 'a' }))
      .addNode('right', (): { b: string } => {
        throw new Error('broken');
      })
      .addNode('begin', () => ({}))
      .addEdge('begin', 'left')
      .addEdge('begin', 'right')
      .setEntry('begin');
    const flow = (require: 1 | 'all') =>
      graph<{ from?: string }>()
        .addNode('group', workflowNode(inner, 'group', { writes: { a: 'from' }, require }))
        .setEntry('group');
    const degraded = await flow(1).run({});
    expect([degraded.outcome, degraded.state.from]).toEqual(['degraded', 'a']);
    expect((await flow('all').run({})).error?.code).toBe('SKEIN_REQUIRE');
    const map = graph<{ list: number[] }>()
      .map('doubled', { over: 'list', require: 1 }, ({ item }: { item: number }) => {
        if (item < 0) throw new Error('no');
        return item * 2;
      })
      .setEntry('doubled');
    expect((await map.run({ list: [1, -1] })).state.doubled).toEqual([2]);
  });
});
