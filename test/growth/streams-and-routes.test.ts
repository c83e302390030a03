import { expect, test } from 'vitest';
import { END, definePlan, run, streamRun } from 'skein';
import type { SkeinEvent } from 'skein';

/** A node that a route sends back to itself `rounds` times. */
function loop(rounds: number): ReturnType<typeof definePlan> {
  return definePlan({
    name: 'loop',
    entry: 'work',
    nodes: [{ id: 'work', output: 'count', run: ({ count }) => Number(count ?? 0) + 1 }],
    routes: [{ from: 'work', targets: ['work', END], choose: ({ count }) => (Number(count) < rounds ? 'work' : END) }],
    limits: { maxSteps: rounds + 1 },
  });
}

test('[XF1] the events of a run of 60,000 steps are all read, each in a time that does not depend on how many wait', async () => {
  const rounds = 60_000;
  const events = streamRun(loop(rounds));
  let read = 0;
  let last: SkeinEvent | undefined;
  for await (const event of events) {
    if (event.seq === read) read += 1;
    last = event;
  }
  expect([read, last?.type]).toEqual([2 * rounds + 2, 'run.ended']);
}, 300_000);

test('[XF8] a route chooses each of 20,000 targets', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `t${at}`);
  const plan = definePlan({
    name: 'wide',
    nodes: [{ id: 'start', run: () => ({}) }, ...names.map((id) => ({ id, output: id, run: () => id }))],
    routes: [{ from: 'start', targets: names, choose: () => names }],
  });
  const { outcome, census, state } = await run(plan).result;
  expect([outcome, census.succeeded, state['t19999']]).toEqual(['succeeded', 20_001, 't19999']);
}, 300_000);
