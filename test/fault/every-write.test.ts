import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { readHistory } from '../../src/journal/session.js';
import { answerHere, calmState, finish, orderOf, raiseHere } from './support/calm.js';
import { makeDir, startRunner, type Ended } from './support/process.js';
import { THOROUGH } from '../thorough.js';
import { SHAPES } from './support/shapes.js';
import { injecting, whyNoStrace, type Injection } from './support/strace.js';

/** Two short ones in CI, and there not every write: each shape begins at another one, and is killed at writes or at fsyncs. */
const SHAPES_HERE = THOROUGH ? Object.keys(SHAPES) : ['pause', 'retry'];
const CALLS = ['pwrite64', 'fsync'] as const;
const KILL_STRIDE = THOROUGH ? 1 : 12;
const FAILURE_STRIDE = THOROUGH ? 1 : 18;
const skipped = whyNoStrace();
if (skipped !== undefined) process.stderr.write(`every-write: skipped, because ${skipped}\n`);

const start = async (shape: string, dir: string, injection: Injection): Promise<Ended> =>
  await startRunner(orderOf(shape, dir, { pace: 0, durability: 'full' }), () => undefined, injecting(dir, injection))
    .ended;

test.skipIf(skipped !== undefined).each(SHAPES_HERE)(
  '%s: killed at its n-th write and at its n-th fsync, it goes on from what is there',
  { timeout: THOROUGH ? 14_400_000 : 900_000, concurrent: true },
  async (shape) => {
    const wanted = await calmState(shape);
    let kills = 0;
    let runs = 0;
    const at = SHAPES_HERE.indexOf(shape);
    for (const call of CALLS.filter((_, index) => THOROUGH || index === at % CALLS.length)) {
      // Each session is killed at one call later than the one before; a run that ends all the same is followed by a new one.
      let n = 1 + (at % KILL_STRIDE);
      for (let wholeRun = false; !wholeRun;) {
        const dir = await makeStoreDir();
        let ended: Ended;
        let sessions = 0;
        const before = kills;
        do {
          ended = await start(shape, dir, { call, n, does: 'signal=SIGKILL' });
          sessions += 1;
          if (killedBy(ended)) {
            kills += 1;
            n += KILL_STRIDE;
          } else if (ended.code === 5) expect(await answerHere(dir)).toBeGreaterThan(0);
          // A call that was killed counts as made: it is paid for again.
          else if (ended.code === 6) await raiseHere(dir);
        } while ((ended.code === 5 || ended.code === 6 || killedBy(ended)) && sessions < 500);
        expect({ n, call, state: ended.result?.state, code: ended.code }).toEqual({ n, call, state: wanted, code: 0 });
        wholeRun = kills === before;
        runs += 1;
        rmSync(dir, { recursive: true });
      }
    }
    process.stderr.write(`every write: ${shape}: ${kills} kills in ${runs} runs; 0 other final states\n`);
    // How many writes there are depends on what shares a commit; none at all would show nothing.
    expect(kills).toBeGreaterThan(1);
  },
);

/** strace ends as the program did that it traced, or with the code that shells give for that. */
function killedBy({ signal, code }: Ended): boolean {
  return signal === 'SIGKILL' || code === 137;
}

/** A folder with a store that is there already: what is written when a store is made, its own tests look at. */
async function makeStoreDir(): Promise<string> {
  const dir = makeDir();
  (await openSqliteStore(join(dir, 'skein.db'))).close();
  return dir;
}

const DISKS = [
  ['a full disk', 'error=ENOSPC', /disk is full/],
  ['an I/O error', 'error=EIO', /I\/O error/],
] as const;

/** In CI each shape meets one of them. */
const FAULTS = SHAPES_HERE.flatMap((shape, at) =>
  DISKS.filter((_, disk) => THOROUGH || disk === at % DISKS.length).map((disk) => [shape, ...disk] as const),
);

test.skipIf(skipped !== undefined).each(FAULTS)(
  '%s: %s at the n-th write ends it with a clear error, and it goes on later',
  { timeout: THOROUGH ? 14_400_000 : 900_000, concurrent: true },
  async (shape, what, does, message) => {
    const wanted = await calmState(shape);
    let failures = 0;
    for (let n = 1 + (SHAPES_HERE.indexOf(shape) % FAILURE_STRIDE); ; n += FAILURE_STRIDE) {
      const dir = await makeStoreDir();
      const order = orderOf(shape, dir);
      const ended = await start(shape, dir, { call: 'pwrite64', n, does });
      const told = ended.error ?? ended.result?.error;
      const untouched = told === undefined && (ended.code === 0 || ended.code === 5);
      if (!untouched) {
        failures += 1;
        expect({ n, code: told?.code, exit: ended.code === 0 }).toEqual({ n, code: 'SKEIN_STORE', exit: false });
        expect(told?.message).toMatch(message);
        const store = await openSqliteStore(join(dir, 'skein.db'));
        for (const row of store.list()) if (store.read(row.id).length > 0) readHistory(store, row.id);
        store.close();
      }
      const last = await finish(order);
      expect({ n, state: last.state, outcome: last.outcome }).toEqual({ n, state: wanted, outcome: 'succeeded' });
      rmSync(dir, { recursive: true });
      if (untouched) break;
    }
    process.stderr.write(`${what}: ${shape}: ${failures} failures; 0 without a clear error, 0 other final states\n`);
    expect(failures).toBeGreaterThan(1);
  },
);
