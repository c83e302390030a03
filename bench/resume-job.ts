import { digestText } from '../src/base/hash.js';
import { recordText } from '../src/base/json.js';
import { atOnce } from '../src/base/slices.js';
import { run } from '../src/index.js';
import type { Store } from '../src/index.js';
import { FamilyReader } from '../src/journal/reader.js';
import { openSqliteStore } from '../src/sqlite.js';
import { sequence } from './plans.js';

/** What one process measured of itself. */
export interface Measured {
  readonly runId: string;
  /** Milliseconds of CPU time until the first step that is not in the record: other jobs of the machine do not count. */
  readonly ms: number;
  /** The longest time in which the event loop had no turn, in milliseconds of CPU time. */
  readonly gap: number;
  /** The most memory that the process had, in bytes. */
  readonly peak: number;
}

/** Looks how much CPU time turns of the event loop take. */
function watchGaps(): () => number {
  let [longest, last, over] = [0, cpuMs(), false];
  const look = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!over) setImmediate(look);
  };
  look();
  return () => {
    over = true;
    return longest;
  };
}

const [, , job, file = '', count = '', id = ''] = process.argv;
const steps = Number(count);

/** CPU time of the process until the first step that is not in the record. */
let reached: number | undefined;
const plan = sequence(steps + 1, (round) => {
  if (round <= steps) return;
  reached = cpuMs();
  if (job === 'run') throw new Error('stopped');
});

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Each record once through the strict reader, each outcome parsed and digested once, each step once through the engine. */
async function readAndReplay(store: Store): Promise<void> {
  const [history] = atOnce(new FamilyReader(store, id).read());
  let sum = 0;
  for (const entries of history.entries.values())
    for (const { record } of entries) sum += digestText(recordText(record.value ?? null)).length;
  const { outcome } = await run(plan).result;
  if (sum === 0 || outcome !== 'succeeded') throw new Error(`not replayed: ${outcome}`);
}

async function done(store: Store): Promise<string> {
  if (job === 'run') return (await run(plan, { store }).result).runId;
  if (job === 'baseline') await readAndReplay(store);
  else {
    const { outcome, ran } = await run(plan, { store, resume: id }).result;
    if (outcome !== 'succeeded' || ran !== 1) throw new Error(`not resumed: ${outcome}`);
  }
  return id;
}

const store = await openSqliteStore(file);
const gaps = watchGaps();
const start = cpuMs();
const runId = await done(store);
const ms = (reached ?? cpuMs()) - start;
const gap = gaps();
store.close();
const measured: Measured = { runId, ms, gap, peak: process.resourceUsage().maxRSS * 1_024 };
console.log(JSON.stringify(measured));
