import { describe, expect, test } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import { graph } from 'skein/graph';

/** Counts calls by name. */
function counter(): { readonly calls: Record<string, number>; readonly did: (name: string) => number } {
  const calls: Record<string, number> = {};
  return { calls, did: (name) => (calls[name] = (calls[name] ?? 0) + 1) };
}

describe('step.run', () => {
  test('[XG11] what is done is not done again when the step is tried again, with and without a store', async () => {
    for (const store of [undefined, memoryStore()]) {
      const { calls, did } = counter();
      const flow = graph<{ order: string }>()
        .node(
          'pay',
          async ({ order }, step) => {
            const receipt = await step.run('charge', () => ({ id: `${order}-${did('charge')}` }));
            if (did('tries') < 3) throw new Error('busy');
            return receipt.id;
          },
          { retry: { retries: 3, delayMs: 1 } },
        )
        .setEntry('pay');
      const { state } = await flow.run({ order: 'o' }, store === undefined ? {} : { store });
      expect([state.pay, calls]).toEqual(['o-1', { charge: 1, tries: 3 }]);
    }
  });

  test('[XG11] a run that failed goes on behind it, a failure is not kept', async () => {
    const { calls, did } = counter();
    let broken = true;
    const flow = graph<{ order: string }>()
      .node('pay', async ({ order }, step) => {
        const id = await step.run('charge', async () => `${order}-${did('charge')}`);
        return await step.run('mail', () => {
          did('mail');
          if (broken) throw new Error('no connection');
          return `${id} mailed`;
        });
      })
      .setEntry('pay');
    const store = memoryStore();
    const first = await flow.run({ order: 'o' }, { store });
    expect(first.error?.message).toBe('no connection');
    broken = false;
    const second = await flow.run({}, { store, resume: first.runId });
    expect([second.state.pay, calls]).toEqual(['o-1 mailed', { charge: 1, mail: 2 }]);
    await flow.run({}, { store, resume: first.runId });
    expect(calls).toEqual({ charge: 1, mail: 2 });
  });

  test('[XG11] what it depends on counts: another input, another function', async () => {
    const { calls, did } = counter();
    const make = (more: (id: string) => string) =>
      graph<{ order: string }>()
        .node('pay', async ({ order }, step) => {
          const id = await step.run('charge', () => `${order}-${did('charge')}`);
          throw new Error(more(id));
        })
        .setEntry('pay');
    const store = memoryStore();
    const first = await make(String).run({ order: 'a' }, { store });
    const fork = (inputs: { order?: string }) => make(String).run(inputs, { store, fork: { run: first.runId } });
    expect((await fork({})).error?.message).toBe('a-1');
    expect((await fork({ order: 'b' })).error?.message).toBe('b-2');
    expect(calls).toEqual({ charge: 2 });
  });

  test('[XG11] what a part read counts for an attempt that uses its result: a fork with another input runs it again', async () => {
    const { calls, did } = counter();
    const flow = graph<{ order: string; note: string; receipt: string }>()
      .addNode(
        'pay',
        async (state, step) => {
          const receipt = await step.run('charge', () => `receipt ${did('charge')} of ${state.order}`);
          if (step.attempt === 1) throw new Error('busy');
          return { receipt };
        },
        { retry: { retries: 1, delayMs: 0 } },
      )
      .setEntry('pay');
    const store = memoryStore();
    const first = await flow.run({ order: 'a', note: '1' }, { store, untrusted: ['order'] });
    const fork = async (inputs: { order?: string; note?: string }) => {
      const { state, labels } = await flow.run(inputs, { store, fork: { run: first.runId } });
      return [state.receipt, labels?.['receipt']?.sources];
    };
    expect(await fork({ note: '2' })).toEqual(['receipt 1 of a', ['input:order']]);
    expect(await fork({ order: 'b' })).toEqual(['receipt 2 of b', ['input:order']]);
    expect(calls).toEqual({ charge: 2 });
  });

  test('[XG11] a name that is used twice is counted, side by side in the order of the calls', async () => {
    const { calls, did } = counter();
    let broken = true;
    const flow = graph()
      .node(
        'pages',
        async (_state, step) => {
          const pages = await Promise.all(
            [20, 1].map((ms) =>
              step.run('page', async ({ idempotencyKey }) => {
                did('page');
                await new Promise((resolve) => setTimeout(resolve, ms));
                return `${ms} ${idempotencyKey.split('/').at(-1)}`;
              }),
            ),
          );
          if (broken) throw new Error('later');
          return pages;
        },
        { inputs: [] },
      )
      .setEntry('pages');
    const store = memoryStore();
    const { runId } = await flow.run({}, { store });
    broken = false;
    const { state } = await flow.run({}, { store, resume: runId });
    expect(state.pages).toEqual(['20 pages@run:page', '1 pages@run:page#2']);
    expect(calls).toEqual({ page: 2 });
  });

  test('[XG11] in maps and plans, and beside a question that waits', async () => {
    const { calls, did } = counter();
    const store = memoryStore();
    let broken = true;
    const flow = graph<{ words: string[] }>()
      .map('each', { over: 'words', maxItems: 5 }, async ({ item }, step) => {
        const long = await step.run('size', () => [did('size'), item.length].at(-1));
        if (broken && item === 'bb') throw new Error('later');
        return long;
      })
      .setEntry('each');
    const first = await flow.run({ words: ['a', 'bb'] }, { store });
    broken = false;
    expect((await flow.run({}, { store, resume: first.runId })).state.each).toEqual([1, 2]);
    expect(calls).toEqual({ size: 2 });

    const plan = definePlan({
      name: 'p',
      nodes: [
        {
          id: 'both',
          output: 'both',
          run: async (_state, step) =>
            await Promise.all([
              step.ask({ text: 'Go?', choices: ['yes', 'no'] }),
              step.run('slow', async () => {
                await new Promise((resolve) => setTimeout(resolve, 20));
                return did('slow');
              }),
            ]),
        },
      ],
    });
    const paused = await run(plan, { store }).result;
    expect(paused.outcome).toBe('paused');
    const answered = await run(plan, { store, resume: paused.runId, answer: async () => 'yes' }).result;
    expect(answered.state).toEqual({ both: ['yes', 1] });
    expect(calls['slow']).toBe(1);
  });

  test('[XG11] what can not be recorded, and what is no name, fails the step', async () => {
    const of = (name: string, value: unknown) =>
      graph()
        .node('a', (_state, step) => step.run(name, () => value), { inputs: [] })
        .setEntry('a');
    expect((await of('x', () => 1).run({}, { store: memoryStore() })).error?.code).toBe('SKEIN_NOT_JSON');
    expect((await of('', 1).run()).error?.code).toBe('SKEIN_USAGE');
    expect((await of('a#2', 1).run()).error?.hint).toContain("step.run('charge'");
  });
});
