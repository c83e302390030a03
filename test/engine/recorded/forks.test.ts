import { describe, expect, test } from 'vitest';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';

const performed: string[] = [];

function scan(names: readonly string[]) {
  const item = definePlan({
    name: 'item',
    inputs: ['file'],
    nodes: [
      {
        id: 'read',
        output: 'text',
        run: ({ file }: { file?: { name: string } }) => {
          performed.push(`read ${file?.name ?? ''}`);
          return file?.name.toUpperCase();
        },
      },
    ],
  });
  return {
    workflow: definePlan({
      name: 'scan',
      inputs: ['files'],
      nodes: [
        {
          id: 'scan',
          kind: 'map',
          plan: item,
          over: { channel: 'files' },
          item: 'file',
          key: ['name'],
          result: 'text',
          output: 'texts',
          maxItems: 10,
        },
      ],
    }),
    inputs: { files: names.map((name) => ({ name })) },
  };
}

describe('items of a map are found by their key', () => {
  test.each([
    ['added', ['a', 'b', 'c', 'd'], ['read d']],
    ['removed', ['a', 'c'], []],
    ['in another order', ['c', 'a', 'b'], []],
    ['added, removed and in another order', ['e', 'c', 'a'], ['read e']],
  ])('%s: only what is new runs', async (_name, names, wanted) => {
    const store = memoryStore();
    const before = scan(['a', 'b', 'c']);
    await run(before.workflow, { store, runId: 'r', inputs: before.inputs }).result;
    performed.length = 0;
    const after = scan(names);
    const result = await run(after.workflow, { store, fork: { run: 'r' }, inputs: after.inputs }).result;
    expect([result.outcome, performed]).toEqual(['succeeded', wanted]);
    expect(result.state['texts']).toEqual(names.map((name) => name.toUpperCase()));
  });
});

/** Three steps in a row and one beside them; `edit` is the body of the first. */
function chain(edit: (state: { text?: string }) => unknown, version = '1') {
  const noted = (id: string, give: (state: Readonly<Record<string, unknown>>) => unknown) => ({
    id,
    output: id,
    run: (state: Readonly<Record<string, unknown>>) => {
      performed.push(id);
      return give(state);
    },
  });
  return definePlan({
    name: 'chain',
    inputs: [
      { name: 'text', default: ' Hi ' },
      { name: 'unused', default: 0 },
    ],
    nodes: [
      { id: 'trim', output: 'trim', version, run: edit },
      noted('upper', ({ trim }) => String(trim).toUpperCase()),
      noted('mark', ({ upper }) => `${String(upper)}!`),
      noted('beside', ({ text }) => String(text).length),
    ],
    edges: [['trim', 'upper', 'mark']],
  });
}

describe('early cut-off', () => {
  const one = chain(({ text }) => {
    performed.push('trim');
    return text?.trim();
  });

  test.each([
    [
      'an edited step with the same result',
      () => chain(({ text }) => (performed.push('trim'), (text ?? '').trim())),
      {},
      ['trim'],
    ],
    [
      'an edited step with another result',
      () => chain(({ text }) => (performed.push('trim'), `${(text ?? '').trim()}?`)),
      {},
      ['trim', 'upper', 'mark'],
    ],
    ['an input that nobody read', () => one, { unused: 1 }, []],
    ['an input with the same result', () => one, { text: '  Hi' }, ['beside', 'trim']],
    ['nothing', () => one, {}, []],
  ])('%s', async (_name, edited, inputs, wanted) => {
    const store = memoryStore();
    await run(one, { store, runId: 'r' }).result;
    performed.length = 0;
    const result = await run(edited(), { store, fork: { run: 'r' }, inputs }).result;
    expect(result.outcome).toBe('succeeded');
    expect(new Set(performed)).toEqual(new Set(wanted));
    expect(performed).toHaveLength(wanted.length);
    expect(result.ran).toBe(wanted.length);
    expect(result.reused).toBe(4 - wanted.length);
  });

  test('steps that are to be forgotten run again', async () => {
    const store = memoryStore();
    await run(one, { store, runId: 'r' }).result;
    performed.length = 0;
    const result = await run(one, { store, fork: { run: 'r', forget: ['upper'] } }).result;
    expect([result.outcome, performed]).toEqual(['succeeded', ['upper']]);
  });
});
