/**
 * Changes bits of a store, one at a time, and goes on with the runs in it as if nothing were wrong. Arguments: folder, number of this process,
 * number of processes, number of bytes in all. Prints what came of it as JSON.
 */
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '../../../src/base/errors.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import type { Store } from '../../../src/journal/store.js';
import { openSqliteStore } from '../../../src/stores/sqlite.js';
import { answerAll, session } from './session.js';
import { SHAPES } from './shapes.js';
import type { World } from './world.js';

const [folder = '', own = '0', processes = '1', positions = '1'] = process.argv.slice(2);
/** Runs by their shapes; each was stopped when it performed this one of its effects. */
const STOPPED: Readonly<Record<string, number>> = { chain: 5, map: 6, loop: 4, agent: 4, code: 5, pause: 3, dag: 4 };
/** These had come to their end. */
const FINISHED = ['fan-out', 'sub-workflow'];
/** What a damaged store may be refused with. */
const REFUSALS: ReadonlySet<string> = new Set(['SKEIN_JOURNAL', 'SKEIN_STORE', 'SKEIN_NO_RUN', 'SKEIN_LEASE']);
/** Longer than any of them takes, however busy the machine is. */
const PATIENCE_MS = 120_000;

/** What happened when one run was gone on with. */
interface Went {
  readonly outcome: string;
  readonly state?: unknown;
  /** Effects that were performed. */
  readonly performed: readonly string[];
  /** It was said that the record is not whole, or what runs again. */
  readonly told: boolean;
}

class FlipWorld implements World {
  readonly performed: string[] = [];
  readonly receiver: string;
  stop: (() => void) | undefined;
  stopsAt = Infinity;

  constructor(readonly cwd: string) {
    mkdirSync(cwd, { recursive: true });
    this.receiver = join(cwd, 'received.txt');
    writeFileSync(this.receiver, '');
  }

  receive = (key: string): void => appendFileSync(this.receiver, `${key}\n`);

  perform = (key: string): Promise<void> => {
    this.performed.push(key);
    if (this.performed.length === this.stopsAt) this.stop?.();
    return new Promise((resolve) => setImmediate(resolve));
  };
}

const names = [...Object.keys(STOPPED), ...FINISHED];
const cwd = join(folder, `world-${own}`);

/** Makes the store: runs that were stopped on their way, and some that are finished. */
async function make(file: string): Promise<void> {
  const store = await openSqliteStore(file, { durability: 'fast' });
  for (const name of names) {
    const world = new FlipWorld(cwd);
    const stop = new AbortController();
    world.stopsAt = STOPPED[name] ?? Infinity;
    world.stop = () => stop.abort(new Error('enough'));
    const built = await SHAPES[name]?.(world, 1);
    if (built === undefined) throw new Error(`no shape ${name}`);
    let result = await session(built, store, { runId: name, signal: stop.signal });
    if (result.outcome === 'paused') {
      answerAll(store, name, () => true);
      result = await session(built, store, { resume: name, signal: stop.signal });
    }
    const wanted = name in STOPPED ? 'cancelled' : 'succeeded';
    if (result.outcome !== wanted) throw new Error(`${name} is ${result.outcome}: ${result.error?.message ?? ''}`);
  }
  store.close();
}

async function goOn(store: Store, name: string): Promise<Went> {
  const world = new FlipWorld(cwd);
  const built = await SHAPES[name]?.(world, 1);
  if (built === undefined) throw new Error(`no shape ${name}`);
  let told = false;
  const listen = (event: SkeinEvent): void => {
    if (event.type === 'run.warning') told ||= ['torn-record', 'changed', 'runs-again'].includes(event.code);
  };
  try {
    const resumed = (): ReturnType<typeof session> => session(built, store, { resume: name, listeners: [listen] });
    let result = await resumed();
    if (result.outcome === 'paused' && answerAll(store, name, () => true) > 0) result = await resumed();
    const { outcome, state, error } = result;
    const refused = error !== undefined && REFUSALS.has(error.code);
    return { outcome: refused ? 'refused' : outcome, state, performed: world.performed, told };
  } catch (error) {
    if (!SkeinError.isInstance(error) || !REFUSALS.has(error.code)) throw error;
    return { outcome: 'refused', performed: world.performed, told };
  }
}

/** Goes on with every run of a store. */
async function goOnAll(file: string): Promise<ReadonlyMap<string, Went>> {
  const went = new Map<string, Went>();
  let store;
  try {
    store = await openSqliteStore(file, { durability: 'fast' });
  } catch (error) {
    if (!SkeinError.isInstance(error) || !REFUSALS.has(error.code)) throw error;
    for (const name of names) went.set(name, { outcome: 'refused', performed: [], told: true });
    return went;
  }
  for (const name of names) went.set(name, await goOn(store, name));
  try {
    store.close();
  } catch (error) {
    if (!SkeinError.isInstance(error)) throw error;
  }
  return went;
}

/** What came of a run whose store was damaged. `wrong`: what must not be, in words. */
interface Verdict {
  readonly kind: 'same' | 'refused' | 'told' | 'wrong';
  readonly words?: string;
}

function judge(is: Went, calm: Went): Verdict {
  if (is.outcome === 'refused') return { kind: 'refused' };
  if (is.outcome !== calm.outcome || !isDeepStrictEqual(is.state, calm.state))
    return { kind: 'wrong', words: `${is.outcome} ${JSON.stringify(is.state)}` };
  const more = is.performed.filter((key) => !calm.performed.includes(key));
  if (more.length === 0) return { kind: 'same' };
  return is.told ? { kind: 'told' } : { kind: 'wrong', words: `did again without a word ${more.join(', ')}` };
}

/** Deterministic, and all over the file. */
function* places(size: number): Generator<number> {
  const count = Number(positions);
  for (let n = Number(own); n < count; n += Number(processes))
    yield Math.floor(((n * 0.618_033_988_749_895) % 1) * size);
}

async function main(): Promise<void> {
  const [base, file] = [join(folder, `base-${own}.db`), join(folder, `flipped-${own}.db`)];
  await make(base);
  const bytes = readFileSync(base);
  copyFileSync(base, file);
  const calm = await goOnAll(file);
  const report = { flips: 0, same: 0, refused: 0, told: 0, wrong: [] as string[] };
  for (const [name, { outcome }] of calm)
    if (outcome !== 'succeeded') report.wrong.push(`${name} is ${outcome} at best`);
  for (const place of places(bytes.length)) {
    const bit = place % 8;
    const flipped = Buffer.from(bytes);
    flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    writeFileSync(file, flipped);
    const late = setTimeout(() => {
      writeSync(2, `byte ${place}, bit ${bit}: no end\n`);
      process.abort();
    }, PATIENCE_MS);
    for (const [name, went] of await goOnAll(file)) {
      const { kind, words } = judge(went, calm.get(name) ?? went);
      if (kind !== 'wrong') report[kind] += 1;
      else if (report.wrong.length < 20) report.wrong.push(`byte ${place}, bit ${bit}: ${name}: ${words ?? ''}`);
    }
    clearTimeout(late);
    report.flips += 1;
    globalThis.gc?.();
  }
  writeSync(1, JSON.stringify(report));
}

await main();
