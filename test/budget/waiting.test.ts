import { expect, it } from 'vitest';
import { run } from 'skein';
import type { SkeinEvent, StepNote } from 'skein';
import { graph } from 'skein/graph';
import { billing, PRICES } from './billed.js';
import { worker } from './plans.js';

const STEPS = ['a', 'b', 'c', 'd'];

/** Four agents side by side, each with a limit of time; a call takes a second. */
function beside() {
  const flow = graph<Record<string, string>>({ reducers: {} }).node('begin', () => 'go');
  for (const id of STEPS) flow.node(id, worker(id), { timeoutMs: 2_500 }).addEdge('begin', id);
  return flow.setEntry('begin').compile();
}

it('[15.5] the time in which calls wait for budget counts toward no timeout, and is told: budget first, then the line of the provider', async () => {
  const say = (): Promise<string> => new Promise((done) => setTimeout(() => done('done'), 1_000));
  const own = billing({ say, usage: { inputTokens: 10, outputTokens: 1 } });
  const notes: StepNote[] = [];
  const listener = (event: SkeinEvent): void => void (event.type === 'step.note' && notes.push(event.note));
  const { outcome } = await run(beside(), {
    inputs: { task: 'x' },
    models: own.models,
    prices: PRICES,
    // A call costs next to nothing, and is reserved at $0.002: one goes after the other.
    budget: '0.003',
    limits: { own: { concurrency: 1 } },
    listeners: [listener],
  }).result;
  expect([outcome, own.asked.length]).toEqual(['succeeded', 4]);
  const of = <K extends StepNote['kind']>(kind: K) =>
    notes.filter((note): note is Extract<StepNote, { kind: K }> => note.kind === kind);
  expect(of('budget.waiting')[0]).toMatchObject({
    limit: 'run',
    measure: 'usd',
    of: 0.003,
    message: expect.stringMatching(
      /^waits for the budget of the run: \$0\.00 of \$0\.003 spent, \$0\.002\d* reserved; /,
    ) as string,
  });
  expect(of('budget.admitted')).toHaveLength(of('budget.waiting').length);
  expect(of('model.queued')).toEqual([]);
});
