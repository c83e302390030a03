import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync as Database } from '@photostructure/sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { END, definePlan, memoryStore, run, runWorkflow, streamRun } from 'skein';
import type { RunOptions, SkeinEvent, Store, Workflow } from 'skein';
import { graph } from 'skein/graph';
import { openSqliteStore } from 'skein/sqlite';

type State = Readonly<Record<string, unknown>>;

const count = (state: State): number => Number(state['n'] ?? 0);

/** A node that a route sends back to itself; `ran` is told of each round that is not taken from a record. */
function rounds(steps: number, ran: (round: number) => void = () => undefined): Workflow {
  const plan = definePlan({
    name: 'rounds',
    entry: 'work',
    nodes: [
      {
        id: 'work',
        kind: 'task',
        output: 'n',
        run: (state) => {
          ran(count(state) + 1);
          return count(state) + 1;
        },
      },
    ],
    routes: [{ from: 'work', choose: (state) => (count(state) < steps ? 'work' : END), targets: ['work', END] }],
    limits: { maxSteps: steps + 1 },
  });
  return { ...plan, settings: { output: { format: 'plain' } }, files: [], problems: [] };
}

describe('a long record that is damaged', () => {
  /** More batches than are read before the event loop has its turn for the first time. */
  const STEPS = 300;
  const plan = rounds(STEPS);
  const flow = graph<{ n: number }>({ name: 'flow', maxSteps: STEPS + 1 })
    .addNode('work', ({ n }) => ({ n: n + 1 }))
    .addConditionalEdge('work', ({ n }) => (n < STEPS ? 'work' : END), { work: 'work' })
    .setEntry('work');

  async function drained<T>(events: AsyncGenerator<unknown, T>): Promise<T> {
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) return value;
    }
  }

  /** Everything that runs a workflow in a program. */
  const doors: Readonly<Record<string, (options: RunOptions) => Promise<{ readonly runId: string }>>> = {
    run: async (options) => await run(plan, options).result,
    streamRun: async (options) => await drained(streamRun(plan, options)),
    runWorkflow: async (options) => (await runWorkflow(plan, options)).result,
    'graph.run': async (options) => await flow.run({ n: 0 }, options),
    'graph.stream': async (options) => await drained(flow.stream({ n: 0 }, options)),
  };

  /** Changes a record in the last third. */
  function damage(file: string): void {
    const database = new Database(file);
    database.exec(`UPDATE batches SET text = replace(text, '"done"', '"gone"')
      WHERE place = (SELECT place FROM batches WHERE text LIKE '%"done"%' ORDER BY place LIMIT 1 OFFSET 200)`);
    database.close();
  }

  it.each(Object.entries(doors))('[XR4] rejects what %s gives: nobody waits for ever', async (_, door) => {
    const folder = mkdtempSync(join(tmpdir(), 'skein-long-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'skein.db');
    const store = await openSqliteStore(file);
    const { runId } = await door({ store });
    store.close();
    damage(file);
    const damaged = await openSqliteStore(file);
    onTestFinished(() => damaged.close());
    await expect(door({ store: damaged, resume: runId })).rejects.toMatchObject({ code: 'SKEIN_JOURNAL' });
  });
});

describe('the replay of a long record', () => {
  const STEPS = 3_000;

  /** A run whose last step failed, and the plan to go on with, which makes that step well. */
  async function stopped(store: Store): Promise<{ runId: string; plan: Workflow; ran: number[]; told: string[] }> {
    let broken = true;
    const ran: number[] = [];
    const told: string[] = [];
    const plan = rounds(STEPS, (round) => {
      if (round === STEPS && broken) throw new Error('stopped');
      ran.push(round);
    });
    const result = await run(plan, { store, listeners: [(event) => told.push(`${event.type} ${event.path}`)] }).result;
    expect(result.outcome).toBe('failed');
    expect(ran).toHaveLength(STEPS - 1);
    broken = false;
    ran.length = 0;
    return { runId: result.runId, plan, ran, told };
  }

  /** Calls `turn` in each turn of the event loop between the first event of a resumed run and the first step that is new. */
  function inTurns(turn: () => void): (event: SkeinEvent) => void {
    let replaying = true;
    const again = (): void => {
      if (!replaying) return;
      turn();
      setImmediate(again);
    };
    return ({ type }) => {
      if (type === 'run.started') setImmediate(again);
      if (type === 'run.resumed') replaying = false;
    };
  }

  it('[XR4] gives way: timers of the process fire many times, and what is told comes in the order of the record', async () => {
    const store = memoryStore();
    const { runId, plan, ran, told } = await stopped(store);
    let [turns, fired, timed] = [0, 0, false];
    const again: string[] = [];
    const counting = inTurns(() => {
      turns += 1;
      if (timed) return;
      timed = true;
      setTimeout(() => {
        timed = false;
        fired += 1;
      });
    });
    const listeners = [counting, (event: SkeinEvent): void => void again.push(`${event.type} ${event.path}`)];
    const result = await run(plan, { store, resume: runId, listeners }).result;
    expect(result).toMatchObject({ outcome: 'succeeded', reused: STEPS - 1, ran: 1, state: { n: STEPS } });
    expect(ran).toEqual([STEPS]);
    const recorded = told.findLastIndex((line) => line.startsWith('step.started'));
    expect(recorded).toBeGreaterThan(STEPS);
    expect(again.slice(0, recorded)).toEqual(told.slice(0, recorded));
    expect(turns).toBeGreaterThan(STEPS / 100);
    expect(fired).toBeGreaterThan(3);
  });

  it('[XR4] renews the lease meanwhile', async () => {
    const store = memoryStore();
    const { runId, plan } = await stopped(store);
    let renewed = 0;
    const renew = store.renew.bind(store);
    vi.spyOn(store, 'renew').mockImplementation((leases, now) => {
      renewed += 1;
      return renew(leases, now);
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    let meanwhile = 0;
    const turns = inTurns(() => {
      vi.advanceTimersByTime(1_000);
      meanwhile = renewed;
    });
    const result = await run(plan, { store, resume: runId, listeners: [turns] }).result;
    expect(result.outcome).toBe('succeeded');
    expect(meanwhile).toBeGreaterThan(3);
  });

  it('[XR4] can be cancelled: the run is cancelled before it has caught up, and what is recorded stays', async () => {
    const store = memoryStore();
    const { runId, plan, ran } = await stopped(store);
    const controller = new AbortController();
    const turns = inTurns(() => setTimeout(() => controller.abort(new Error('enough'))));
    const first = await run(plan, { store, resume: runId, listeners: [turns], signal: controller.signal }).result;
    expect(first.outcome).toBe('cancelled');
    expect(first.reused).toBeLessThan(STEPS - 1);
    expect(ran).toEqual([]);
    const second = await run(plan, { store, resume: runId }).result;
    expect(second).toMatchObject({ outcome: 'succeeded', reused: STEPS - 1, ran: 1, state: { n: STEPS } });
  });
});
