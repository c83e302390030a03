import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions, RunResult, Store } from 'skein';

type State = Readonly<Record<string, unknown>>;

/** What runs that a function starts are given. */
interface Io {
  readonly runOptions: RunOptions;
}

const child = definePlan({
  name: 'child',
  inputs: ['notes'],
  nodes: [{ id: 'copy', run: ({ notes }: State) => ({ copied: notes }) }],
});

/** A plan whose function takes something from the result of a run; then it asks. */
const parent = definePlan({
  name: 'parent',
  nodes: [
    {
      id: 'start',
      run: async (_: State, io: Io) => {
        const options = { ...io.runOptions, inputs: { notes: 'mail' }, untrusted: ['notes'] };
        return { taken: (await run(child, options).result).state['copied'] };
      },
    },
    { id: 'own', run: () => ({ own: 1 }) },
    { id: 'sure', kind: 'ask', output: 'sure', question: 'Go on?' },
  ],
  edges: [['start', 'sure']],
});

const yes = { answer: () => Promise.resolve('yes') };

function labelled({ labels = {} }: RunResult, source = 'input:notes'): string[] {
  return Object.keys(labels).filter((name) => labels[name]?.sources.includes(source) === true);
}

describe('what a function takes from a run that it started', () => {
  it('has the labels of that run, in memory and with a store', async () => {
    expect(labelled(await run(parent, yes).result)).toEqual(['taken']);
    expect(labelled(await run(parent, { ...yes, store: memoryStore() }).result)).toEqual(['taken']);
  });

  it('has them when the function is answered from the record, of this run or of another one', async () => {
    const store = memoryStore();
    const paused = await run(parent, { store, runId: 'one' }).result;
    expect(paused.outcome).toBe('paused');
    const fork = await run(parent, { ...yes, store, fork: { run: 'one' } }).result;
    const resumed = await run(parent, { ...yes, store, resume: 'one' }).result;
    for (const again of [fork, resumed]) {
      expect([again.outcome, again.reused]).toEqual(['succeeded', 2]);
      expect(labelled(again)).toEqual(['taken']);
    }
  });

  it('has them where it was a part of the step that is recorded by itself', async () => {
    const store = memoryStore();
    const parts = definePlan({
      name: 'parts',
      nodes: [
        {
          id: 'start',
          run: async (
            _: State,
            io: Io & {
              run<T>(name: string, part: () => Promise<T>): Promise<T>;
              ask(question: { text: string }): Promise<string>;
            },
          ) => {
            const taken = await io.run('child', async () => {
              const options = { ...io.runOptions, inputs: { notes: 'mail' }, untrusted: ['notes'] };
              return (await run(child, options).result).state['copied'];
            });
            await io.ask({ text: 'Go on?' });
            return { taken };
          },
        },
      ],
    });
    expect((await run(parts, { store, runId: 'one' }).result).outcome).toBe('paused');
    expect(labelled(await run(parts, { ...yes, store, resume: 'one' }).result)).toEqual(['taken']);
  });
});

describe('how a run ended that a function started', () => {
  /** Its step reads the mail in a run of its own, fails because of it or not, and writes nothing. */
  const doubting = (mail: string): ReturnType<typeof definePlan> =>
    definePlan({
      name: 'doubting',
      nodes: [
        {
          id: 'doubts',
          run: async (_: State, io: Io) => {
            const options = { ...io.runOptions, inputs: { notes: mail }, untrusted: ['notes'] };
            const { state } = await run(child, options).result;
            if (state['copied'] === 'x') throw new Error('no');
            return {};
          },
        },
      ],
    });
  const inside = (mail: string): ReturnType<typeof definePlan> =>
    definePlan({ name: 'outer', nodes: [{ id: 'in', kind: 'call', plan: doubting(mail), inputs: {} }] });

  it.each([
    ['its own', doubting],
    ['a plan inside', inside],
  ])('says something of what the steps of %s had read, whichever way it ended', async (_, inner) => {
    for (const [mail, word] of [
      ['x', 'failed'],
      ['y', 'succeeded'],
    ] as const) {
      const asks = definePlan({
        name: 'asks',
        nodes: [
          {
            id: 'start',
            run: async (__: State, io: Io) => ({ word: (await run(inner(mail), io.runOptions).result).outcome }),
          },
        ],
      });
      for (const result of [await run(asks).result, await run(asks, { store: memoryStore() }).result])
        expect([result.state['word'], labelled(result)]).toEqual([word, ['word']]);
    }
  });
});

describe('a run that a function starts', () => {
  const asks = definePlan({
    name: 'asks',
    nodes: [
      { id: 'sure', kind: 'ask', output: 'sure', question: 'Go on?' },
      { id: 'after', run: () => ({ after: 1 }) },
    ],
    edges: [['sure', 'after']],
  });

  /** Its function has read the mail when it starts a run, but not yet when it takes the options for it. */
  function starting(store: Store): ReturnType<typeof definePlan> {
    return definePlan({
      name: 'reads',
      inputs: ['mail'],
      nodes: [
        {
          id: 'start',
          run: async ({ mail }: State, io: Io) => {
            await run(asks, { ...io.runOptions, store, runId: `of-${String(mail)}` }).result;
          },
        },
      ],
    });
  }

  it('knows what influenced that, also when somebody goes on with it later', async () => {
    const store = memoryStore();
    await run(starting(store), { inputs: { mail: 'x' }, untrusted: ['mail'] }).result;
    const resumed = await run(asks, { ...yes, store, resume: 'of-x' }).result;
    expect(labelled(resumed, 'input:mail')).toEqual(['sure', 'after']);
    const fork = await run(asks, { ...yes, store, fork: { run: 'of-x' } }).result;
    expect(labelled(fork, 'input:mail')).toEqual(['sure', 'after']);
  });

  it('is the user’s own where only the user had a say', async () => {
    const store = memoryStore();
    await run(starting(store), { inputs: { mail: 'y' } }).result;
    expect(await run(asks, { ...yes, store, resume: 'of-y' }).result).not.toHaveProperty('labels');
  });
});
