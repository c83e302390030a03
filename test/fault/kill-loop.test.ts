import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doneKeys, linesOf } from '../engine/recorded/in-process.js';
import { seededRandom } from '../../src/testing/index.js';
import { openSqliteStore } from '../../src/stores/sqlite.js';
import { tell } from '../guard/support/figures.js';
import { linesIn, makeDir, startRunner, type Ended, type Order } from './support/process.js';
import { readBudget } from '../../src/runtime.js';
import { answerHere, calmResult, endOf, finish, orderOf, raiseHere, type Calm } from './support/calm.js';
import { SHAPES } from './support/shapes.js';

/** Kills in all; `npm run test:fault` asks for more than one of each shape. */
const KILLS = Number(process.env['SKEIN_KILLS'] ?? 0);
const SEED = process.env['SKEIN_SEED'] ?? '20';
const PER_RUN = 8;

interface Count {
  kills: number;
  runs: number;
  performed: number;
  received: number;
}

/** `SKEIN_SHAPES=pause,agent`: only these. */
const names = process.env['SKEIN_SHAPES']?.split(',') ?? Object.keys(SHAPES);
const counts = new Map<string, Count>(names.map((name) => [name, { kills: 0, runs: 0, performed: 0, received: 0 }]));

test.each([0, 1])(
  `SIGKILL at random times loses no acknowledged step and repeats no recorded one, seed ${SEED}, half %i`,
  { timeout: Math.max(KILLS, names.length) * 30_000, concurrent: true },
  async (half) => {
    const mine = names.filter((_, at) => at % 2 === half);
    const budget = mine.length === 0 ? 0 : Math.max(Math.ceil(KILLS / 2), mine.length);
    const calm = new Map<string, Calm>();
    for (const name of mine) calm.set(name, await calmResult(name));
    let kills = 0;
    const isSpared = (name: string) => (counts.get(name)?.kills ?? 0) === 0;
    // On a busy machine a run may end before its kill: then that shape has another one.
    for (let at = 0; kills < budget || mine.some(isSpared); at++) {
      const name = mine[at % mine.length] ?? '';
      if (kills >= budget && !isSpared(name)) continue;
      const limit = Math.min(PER_RUN, Math.max(1, Math.ceil((budget - kills) / mine.length)));
      kills += await disturbed(name, `${SEED} ${half} ${at}`, limit, calm.get(name));
    }
    expect(kills).toBeGreaterThanOrEqual(budget);
    const told = mine.map((name) => `${name} ${JSON.stringify(counts.get(name))}`);
    process.stderr.write(`kill loop, seed ${SEED}: ${kills} kills; 0 lost, 0 repeated\n  ${told.join('\n  ')}\n`);
    for (const name of mine) expect(counts.get(name)?.kills ?? 0, name).toBeGreaterThan(0);
  },
);

test.each(names.filter((name) => name === 'guarded'))(
  '%s: a process that is killed decides about calls as one that is not, by the same labels, verdicts and answers',
  (name) => {
    const kills = counts.get(name)?.kills ?? 0;
    expect(kills).toBeGreaterThan(0);
    const what = 'SIGKILL in a run with taint, verdicts and approvals';
    tell({ what, n: kills, forbidden: 0, goal: 'the same decisions' });
  },
);

/** Kills a run again and again, and lets it end; gives the number of kills. */
async function disturbed(name: string, seed: string, limit: number, wanted: Calm | undefined): Promise<number> {
  const random = seededRandom(seed);
  const dir = makeDir();
  const watch = new Watch(name, dir);
  let kills = 0;
  let ended: Ended | undefined;
  while (kills < limit && ended?.code !== 0) {
    const order = { ...orderOf(name, dir), edition: kills === 0 ? 1 : 2 } as const;
    ended = await killed(order, random);
    if (ended.signal === 'SIGKILL') kills += 1;
    else if (ended.code === 5) await answerHere(dir);
    else if (ended.code === 6) await raiseHere(dir);
    else expect({ seed, code: ended.code, stderr: ended.stderr }).toEqual({ seed, code: 0, stderr: '' });
    await watch.check(seed, order.edition);
  }
  const isOver = ended?.code === 0 && (name !== 'edited' || kills > 1);
  const result = isOver ? ended?.result : await finish(orderOf(name, dir));
  await watch.check(seed, 2);
  expect({ seed, outcome: result?.outcome }).toEqual({ seed, outcome: 'succeeded' });
  const { state, labels } = endOf(result);
  expect({ seed, state }).toEqual({ seed, state: wanted?.state });
  // Of a call that was cut off, and of which a person says that it was made, nobody heard anything.
  if (!watch.isUnheard) expect({ seed, labels }).toEqual({ seed, labels: wanted?.labels });
  const received = linesIn(dir, 'received.txt');
  expect({ seed, received: received.toSorted() }).toEqual({ seed, received: [...new Set(received)].toSorted() });
  const count = counts.get(name);
  if (count !== undefined) {
    count.kills += kills;
    count.runs += 1;
    count.performed += watch.performed;
    count.received += received.length;
  }
  rmSync(dir, { recursive: true });
  return kills;
}

/** Runs until it is killed: when it tells its n-th line, or some time after that. */
async function killed(order: Order, random: () => number): Promise<Ended> {
  let left = 1 + Math.floor(random() * 5);
  const later = random() < 0.5 ? 0 : random() * 12;
  const { child, ended } = startRunner(order, () => {
    left -= 1;
    if (left !== 0) return;
    if (later === 0) child.kill('SIGKILL');
    else setTimeout(() => child.kill('SIGKILL'), later);
  });
  return await ended;
}

/** Compares, session by session, what a runner did with what was recorded and acknowledged before. */
class Watch {
  performed = 0;
  /** The result of a call was lost with its process. */
  isUnheard = false;
  /** Of models. */
  private calls = 0;
  private seen = 0;
  private readonly recorded = new Set<string>();
  private done: readonly string[] = [];
  /** What was recorded before the edit; of what it changed that does not count. */
  private old: readonly string[] = [];
  private readonly acknowledged = new Set<string>();
  private edition: 1 | 2 = 1;

  constructor(
    private readonly name: string,
    private readonly dir: string,
  ) {}

  async check(seed: string, edition: 1 | 2): Promise<void> {
    const lines = linesIn(this.dir, 'ledger.txt').slice(this.seen);
    this.seen += lines.length;
    // What an edit changed, and what depends on it, runs again.
    if (this.name === 'edited' && edition !== this.edition) {
      this.old = this.done.filter((key) => /^(right|join)@/.test(key));
      for (const step of ['right', 'join']) {
        this.acknowledged.delete(step);
        this.recorded.delete(`${step}@model#1`);
      }
    }
    this.edition = edition;
    for (const line of lines) {
      const [word = '', key = ''] = line.split(' ');
      const path = key.replaceAll(/~\d+|@.*/g, '');
      if (word === 'did') {
        this.performed += 1;
        if (key.includes('@model#')) this.calls += 1;
        const again = this.recorded.has(key);
        const lost = this.acknowledged.has(path);
        expect({ seed, key, again, lost }).toEqual({ seed, key, again: false, lost: false });
      } else if (word === 'ack') this.acknowledged.add(key);
    }
    const store = await openSqliteStore(join(this.dir, 'skein.db'));
    const recorded = store.run('r') === undefined ? [] : linesOf(store, 'r');
    this.isUnheard = recorded.some((line) => line.includes('Its result is not known'));
    this.done = doneKeys(recorded);
    // Nothing is called that is not counted, and nothing is counted beyond the limit.
    for (const { spent, limit } of this.name === 'budget' && this.done.length > 0 ? readBudget(store, 'r') : []) {
      expect({ seed, isCounted: this.calls <= spent, isWithin: spent <= limit }).toEqual({
        seed,
        isCounted: true,
        isWithin: true,
      });
    }
    for (const key of this.done) if (times(this.done, key) > times(this.old, key)) this.recorded.add(key);
    store.close();
  }
}

function times(keys: readonly string[], key: string): number {
  return keys.filter((one) => one === key).length;
}
