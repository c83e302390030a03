import { describe, expect, test } from 'vitest';
import { run } from 'skein';
import type { SkeinEvent } from 'skein';
import { graph } from 'skein/graph';
import { thrown } from '../../thrown.js';

interface Files {
  files: { readonly id: string; readonly size: number }[];
  factor: number;
}

const FILES = [
  { id: 'b', size: 2 },
  { id: 'a', size: 1 },
];

describe('a map node', () => {
  test('calls a function for each item, and gives the results in the order of the items', async () => {
    const flow = graph<Files>()
      .map(
        'sizes',
        { over: 'files', item: 'file', key: 'id', concurrency: 1 },
        ({ file, factor }) => file.size * factor,
      )
      .node('sum', ({ sizes }) => sizes.reduce((sum, size) => sum + size, 0))
      .setEntry('sizes');
    expect(flow.dryRun()).toMatchObject({ levels: [['sizes'], ['sum']], inputsRequired: ['files', 'factor'] });
    const paths = new Set<string>();
    const listeners = [(event: SkeinEvent) => paths.add(event.path)];
    const { state } = await run(flow.compile(), { inputs: { files: FILES, factor: 10 }, listeners }).result;
    expect(state).toMatchObject({ sizes: [20, 10], sum: 30 });
    expect([...paths]).toEqual(['', 'sizes', 'sizes[b]/each', 'sizes[a]/each', 'sum']);
  });

  test('is an edge from the node that gives the list, and from the others that its function reads', () => {
    const flow = graph()
      .node('list', () => [1, 2])
      .node('offset', () => 1)
      .map('moved', { over: 'list', label: 'Move each' }, ({ item, offset }) => item + offset)
      .setEntry('list');
    expect(flow.edges).toEqual([
      { from: 'list', to: 'moved', inferred: true },
      { from: 'offset', to: 'moved', inferred: true },
    ]);
    expect(flow.compile().plan.nodes[2]).toMatchObject({ label: 'Move each', maxItems: 1000 });
  });

  test('runs a workflow for each item', async () => {
    const inner = graph<{ item: number; factor: number }>()
      .node('times', ({ item, factor }) => item * factor)
      .node('text', ({ times }) => `${times}`)
      .setEntry('times');
    const flow = graph<{ list: number[]; factor: number }>().map('texts', { over: 'list' }, inner).setEntry('texts');
    const result = await run(flow.compile(), { inputs: { list: [1, 2], factor: 3 } }).result;
    expect(result.state['texts']).toEqual(['3', '6']);
    const whole = graph<{ list: number[]; factor: number }>()
      .map('all', { over: 'list', projectState: true }, inner)
      .setEntry('all');
    const { state } = await run(whole.compile(), { inputs: { list: [1], factor: 3 } }).result;
    expect(state['all']).toEqual([{ item: 1, factor: 3, times: 3, text: '3' }]);
  });

  test('more items than its bound fail it; a failed item may give null', async () => {
    const flow = graph<{ list: number[] }>()
      .map('halves', { over: 'list', maxItems: 3, onItemError: 'continue' }, ({ item }) => {
        if (item % 2 === 1) throw new Error('odd');
        return item / 2;
      })
      .setEntry('halves');
    const some = await run(flow.compile(), { inputs: { list: [2, 3, 4] } }).result;
    expect(some.state['halves']).toEqual([1, null, 2]);
    const many = await run(flow.compile(), { inputs: { list: [2, 4, 6, 8] } }).result;
    expect(many.error?.code).toBe('SKEIN_MAX_ITEMS');
  });

  test('a function that does not name what it reads is refused with advice, unless it is said', async () => {
    const refused = thrown(() => graph<{ list: number[] }>().map('all', { over: 'list' }, (state) => state.item));
    expect(refused.message).toContain('{ inputs: ["item"] }');
    const flow = graph<{ list: number[] }>()
      .map('all', { over: 'list', inputs: ['item'] }, (state) => state.item)
      .setEntry('all');
    expect((await run(flow.compile(), { inputs: { list: [1] } }).result).state['all']).toEqual([1]);
  });
});
