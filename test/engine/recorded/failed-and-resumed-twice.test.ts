import { expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';

const never = new Promise<never>(() => undefined);

it.each(['read', 'idempotent'] as const)(
  'a run whose %s step timed out goes on after a resume that got past it, however often it is resumed and forked',
  async (effect) => {
    let isSlow = true;
    const performed: boolean[] = [];
    const store = memoryStore();
    const play = async (more: RunOptions) => {
      const slow = async (): Promise<string> => {
        performed.push(isSlow);
        return isSlow ? await never : 'done';
      };
      const { outcome, error } = await run(
        definePlan({
          name: 'p',
          nodes: [
            { id: 'slow', kind: 'task', effect, timeoutMs: 2_000, output: 'did', run: slow },
            { id: 'q', kind: 'ask', question: 'Now?', output: 'said' },
          ],
          edges: [['slow', 'q']],
        }),
        { store, ...more },
      ).result;
      return [outcome, error?.code];
    };
    expect(await play({ runId: 'r' })).toEqual(['failed', 'SKEIN_TIMEOUT']);
    isSlow = false;
    expect(await play({ resume: 'r' })).toEqual(['paused', undefined]);
    expect(await play({ resume: 'r' })).toEqual(['paused', undefined]);
    expect(await play({ fork: { run: 'r' } })).toEqual(['paused', undefined]);
    expect(await play({ resume: 'r', answer: () => Promise.resolve('yes') })).toEqual(['succeeded', undefined]);
    expect(await play({ resume: 'r' })).toEqual(['succeeded', undefined]);
    // Once in the session that timed out, once in the one that got past it.
    expect(performed).toEqual([true, false]);
  },
);

it('a call that must not happen twice is asked about after each of its failures', async () => {
  const store = memoryStore();
  let performed = 0;
  const asked: string[] = [];
  const send = (): string => {
    performed += 1;
    if (performed < 4) throw new Error('busy');
    return 'sent';
  };
  const plan = definePlan({ name: 'p', nodes: [{ id: 's', kind: 'task', effect: 'once', output: 'did', run: send }] });
  const play = async (more: RunOptions) => (await run(plan, { store, ...more }).result).outcome;
  const answer: RunOptions['answer'] = (_question, address) => {
    asked.push(address);
    return Promise.resolve('run it');
  };
  expect(await play({ runId: 'r' })).toBe('failed');
  expect(await play({ resume: 'r' })).toBe('paused');
  expect([await play({ resume: 'r', answer }), performed]).toEqual(['failed', 2]);
  expect([await play({ resume: 'r' }), performed]).toEqual(['paused', 2]);
  expect([await play({ resume: 'r', answer }), performed]).toEqual(['failed', 3]);
  expect([await play({ resume: 'r', answer }), performed]).toEqual(['succeeded', 4]);
  expect(asked).toEqual(['s@outcome', 's@outcome', 's@outcome']);
});
