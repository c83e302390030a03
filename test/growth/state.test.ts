import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { END, definePlan, run } from 'skein';

type State = Readonly<Record<string, unknown>>;

test('[XF12] two loops side by side keep nothing of their past', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const rounds = 400;
  const written: WeakRef<object>[] = [];
  let alive = -1;
  const work = (id: string) => async (state: State) => {
    await new Promise((resolve) => setImmediate(resolve));
    const n = ((state[id] as { readonly n: number } | undefined)?.n ?? 0) + 1;
    const value = { n };
    written.push(new WeakRef(value));
    if (id === 'b' && n === rounds) {
      collect();
      alive = written.filter((ref) => ref.deref() !== undefined).length;
    }
    return { [id]: value };
  };
  const sides = ['a', 'b'];
  const { outcome, state } = await run(
    definePlan({
      name: 'side-by-side',
      nodes: [{ id: 'start', run: () => ({}) }, ...sides.map((id) => ({ id, writes: [id], run: work(id) }))],
      edges: sides.map((id) => ['start', id] as const),
      routes: sides.map((id) => ({
        from: id,
        targets: [id, END],
        choose: (seen: State) => ((seen[id] as { readonly n: number }).n < rounds ? id : END),
      })),
      limits: { maxSteps: 2 * rounds + 10 },
    }),
  ).result;
  expect([outcome, state]).toEqual(['succeeded', { a: { n: rounds }, b: { n: rounds } }]);
  expect(written.length).toBe(2 * rounds);
  expect(alive).toBeGreaterThan(0);
  expect(alive).toBeLessThan(50);
});

test('[XF12] a state of 100,000 keys is copied', async () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `k${at}`);
  const { state } = await run(
    definePlan({
      name: 'copied',
      nodes: [
        { id: 'fill', run: () => Object.fromEntries(keys.map((key) => [key, 1])) },
        { id: 'copy', output: 'copied', run: (seen: State) => Object.keys({ ...seen }).length },
      ],
      edges: [['fill', 'copy']],
    }),
  ).result;
  expect(state['copied']).toBe(100_000);
});
