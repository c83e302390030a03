import { describe, expect, test } from 'vitest';
import { memoryStore, definePlan, readRun, run } from 'skein';
import type { Store } from 'skein';
import { graph } from 'skein/graph';

/** Three rounds of two steps, items within each round, and a step behind. */
function rounds(ran: string[]) {
  const step = (id: string) => ({
    id,
    output: id,
    run: (_state: unknown, { path }: { readonly path: string }) => (ran.push(path), path),
  });
  return definePlan({
    name: 'rounds',
    nodes: [
      step('first'),
      {
        id: 'loop',
        kind: 'loop',
        maxRounds: 3,
        onMaxRounds: 'continue',
        carry: ['list'],
        until: () => false,
        outputs: { list: 'list' },
        plan: definePlan({
          name: 'inner',
          inputs: [{ name: 'list', default: ['a/b', 'c]d'] }],
          nodes: [
            step('a'),
            {
              id: 'map',
              kind: 'map',
              over: { channel: 'list' },
              output: 'maps',
              item: 'item',
              result: 'work',
              maxItems: 9,
              plan: definePlan({ name: 'each', inputs: ['item'], nodes: [step('work')] }),
            },
            step('b'),
          ],
          edges: [['a', 'map', 'b']],
        }),
      },
      step('last'),
    ],
    edges: [['first', 'loop', 'last']],
  });
}

async function recorded(workflow: ReturnType<typeof rounds>, store: Store): Promise<string> {
  const { runId, result } = run(workflow, { store });
  expect((await result).error).toBeUndefined();
  return runId;
}

describe('[XP8] fork.from in code', () => {
  test('takes every address that a run shows; only what was recorded from there on runs again', async () => {
    const ran: string[] = [];
    const store = memoryStore();
    const workflow = rounds(ran);
    const runId = await recorded(workflow, store);
    const order = [...ran];
    const paths = readRun(store, runId)
      .steps.map((step) => step.path)
      .filter((path) => order.includes(path));
    expect(paths.toSorted()).toEqual(order.toSorted());
    for (const from of paths) {
      ran.length = 0;
      const forked = run(workflow, { store, fork: { run: runId, from } });
      expect((await forked.result).outcome).toBe('succeeded');
      const behind = order.slice(order.indexOf(from));
      // Items run beside each other: those of one round do not depend on each other.
      const [round] = from.split('/map[');
      const beside = from.includes('map[')
        ? behind.filter((path) => path !== from && path.startsWith(`${round}/map[`))
        : [];
      expect([from, [...ran]]).toEqual([from, behind.filter((path) => !beside.includes(path))]);
    }
  });

  test('of a run that is a fork itself, or went on after an edit: all that depends on the step runs again', async () => {
    const ran: string[] = [];
    const store = memoryStore();
    const workflow = rounds(ran);
    const runId = await recorded(workflow, store);
    const again = async (run_: string, from: string): Promise<readonly string[]> => {
      ran.length = 0;
      await run(workflow, { store, fork: { run: run_, from } }).result;
      return [...ran];
    };
    const addresses = ['first', 'loop', 'loop#2', 'loop#2/a', 'loop#3/b', 'last'];
    const wanted = new Map<string, readonly string[]>();
    for (const from of addresses) wanted.set(from, await again(runId, from));
    for (const first of addresses) {
      const forked = await run(workflow, { store, fork: { run: runId, from: first } }).result;
      for (const from of addresses)
        expect([first, from, await again(forked.runId, from)]).toEqual([first, from, wanted.get(from)]);
    }
    const edited = (text: string) =>
      definePlan({
        name: 'edited',
        nodes: ['a', 'b', 'c'].map((id) => ({
          id,
          output: id,
          version: id === 'a' ? text : '',
          run: () => (ran.push(id), id === 'a' ? text : ran.length),
        })),
        edges: [['a', 'b', 'c']],
      });
    const first = await run(edited('one'), { store }).result;
    await run(edited('two'), { store, resume: first.runId }).result;
    ran.length = 0;
    await run(edited('two'), { store, fork: { run: first.runId, from: 'b' } }).result;
    expect(ran).toEqual(['b', 'c']);
  });

  test('a step that was skipped: what depends on it runs again, at the top, in a round and in an item', async () => {
    const ran: string[] = [];
    const store = memoryStore();
    const step = (id: string) => ({
      id,
      output: id,
      join: 'settled' as const,
      run: (_state: unknown, { path }: { readonly path: string }) => (ran.push(path), path),
    });
    const nodes = [step('a'), { ...step('skipped'), when: () => false }, step('b')];
    const edges = [['a', 'skipped', 'b']] as const;
    const inner = definePlan({ name: 'inner', inputs: [{ name: 'item', default: 0 }], nodes, edges });
    const workflow = definePlan({
      name: 'skips',
      inputs: [{ name: 'list', default: [1, 2] }],
      nodes: [
        ...nodes,
        { id: 'loop', kind: 'loop', maxRounds: 2, onMaxRounds: 'continue', until: () => false, plan: inner },
        {
          id: 'map',
          kind: 'map',
          over: { channel: 'list' },
          item: 'item',
          output: 'maps',
          result: 'b',
          maxItems: 9,
          plan: inner,
        },
      ],
      edges: [...edges, ['b', 'loop', 'map']],
    });
    const { runId } = await run(workflow, { store }).result;
    const items = ['map[0]/a', 'map[1]/a', 'map[0]/b', 'map[1]/b'];
    expect([...ran]).toEqual(['a', 'b', 'loop#1/a', 'loop#1/b', 'loop#2/a', 'loop#2/b', ...items]);
    const shown = readRun(store, runId).steps.map(({ path }) => path);
    const wanted = [
      ['skipped', ran.slice(1)],
      ['loop#1/skipped', ran.slice(3)],
      ['loop#2/skipped', ran.slice(5)],
      ['map[1]/skipped', ['map[1]/b']],
    ] as const;
    for (const [from, again] of wanted) {
      expect(shown).toContain(from);
      ran.length = 0;
      await run(workflow, { store, fork: { run: runId, from } }).result;
      expect([from, [...ran]]).toEqual([from, again]);
    }
  });

  test('a round, a loop, a map, and nodes without numbers', async () => {
    const ran: string[] = [];
    const store = memoryStore();
    const workflow = rounds(ran);
    const runId = await recorded(workflow, store);
    const again = async (from: string): Promise<number> => {
      ran.length = 0;
      await run(workflow, { store, fork: { run: runId, from } }).result;
      return ran.length;
    };
    expect(await again('loop#2')).toBe(9);
    expect(await again('loop#3')).toBe(5);
    expect(await again('loop')).toBe(13);
    expect(await again('loop/b')).toBe(10);
    expect(await again('loop#3/map')).toBe(4);
  });
});

describe('[XP1] fork.forget in code', () => {
  test.each([
    ['loop#2/b', ['loop#2/b']],
    ['loop/b', ['loop#1/b', 'loop#2/b', 'loop#3/b']],
    ['loop#2', ['loop#2/a', 'loop#2/map', 'loop#2/b']],
    ['last', ['last']],
  ])('%s', async (address, forgotten) => {
    const ran: string[] = [];
    const store = memoryStore();
    const workflow = rounds(ran);
    const runId = await recorded(workflow, store);
    ran.length = 0;
    await run(workflow, { store, fork: { run: runId, forget: [address] } }).result;
    expect(ran.length).toBeGreaterThan(0);
    expect(ran.filter((path) => !forgotten.some((each) => path.startsWith(each)))).toEqual([]);
  });

  test.each([
    ['lop', 'fork.forget: the workflow has no step "lop"', 'did you mean "loop"?'],
    ['loop#9/b', 'fork.forget: the run has no step "loop#9/b"', 'did you mean "loop#1/b"?'],
    [
      'loop/c/d',
      'fork.forget: the workflow has no step "loop/c/d"',
      'its steps: first, loop, loop/a, loop/map, loop/map/work, loop/b, last',
    ],
    ['last#2', 'fork.forget: the run has no step "last#2"', 'did you mean "last"?'],
  ])('%s is refused, and nothing is written', async (address, message, hint) => {
    const store = memoryStore();
    const workflow = rounds([]);
    const runId = await recorded(workflow, store);
    const fork = { run: runId, forget: [address] };
    await expect(run(workflow, { store, fork }).result).rejects.toMatchObject({ code: 'SKEIN_USAGE', message, hint });
    expect(store.list()).toHaveLength(1);
  });

  test('in a graph, too', async () => {
    const store = memoryStore();
    let drafts = 0;
    const flow = graph<{ draft?: number; ok?: boolean; done?: boolean }>()
      .addNode('draft', () => ({ draft: (drafts += 1) }))
      .addNode('judge', ({ draft = 0 }) => ({ ok: draft >= 3 }))
      .addEdge('draft', 'judge')
      .addConditionalEdge('judge', (state) => (state.ok === true ? 'end' : 'again'), {
        again: 'draft',
        end: 'done',
      })
      .addNode('done', () => ({ done: true }))
      .setEntry('draft');
    const { runId } = await flow.run({}, { store });
    expect(drafts).toBe(3);
    const forked = await flow.run({}, { store, fork: { run: runId, from: 'draft#3' } });
    expect(forked).toMatchObject({ success: true, state: { draft: 4 } });
    expect(drafts).toBe(4);
    await expect(flow.run({}, { store, fork: { run: runId, from: 'draft#8' } })).rejects.toThrow(
      'fork.from: the run has no step',
    );
  });
});
