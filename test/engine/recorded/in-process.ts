import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { chainSum, FIRST_SUM } from '../../../src/journal/codec.js';
import type { Store, StoredBatch } from '../../../src/journal/store.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { seededRandom } from '../../../src/testing/index.js';
import { THOROUGH } from '../../thorough.js';
import type { World } from '../../fault/support/world.js';

/** Shapes that start a program for a step: each costs more than a whole run of another shape. */
const WITH_PROGRAMS = new Set(['agent', 'commands', 'finally', 'ended']);

/** Whether a run of the shape is cut at this place: at all of the first places, then at some. Among five in a row each kind of failure comes up. */
export function isTried(shape: string, at: number): boolean {
  return THOROUGH || at < (WITH_PROGRAMS.has(shape) ? 5 : 10) || at % 7 === 0;
}

/** A world that keeps in memory what was done in it. */
export interface MemoryWorld extends World {
  readonly performed: string[];
  /** Lines of the receiver. */
  received(): string[];
}

/** A world whose effects take a few turns of the event loop, drawn from a seed. */
export function memoryWorld(seed: string | number): MemoryWorld {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-world-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const receiver = join(cwd, 'received.txt');
  writeFileSync(receiver, '');
  const random = seededRandom(seed);
  const performed: string[] = [];
  return {
    cwd,
    receiver,
    performed,
    received: () => readFileSync(receiver, 'utf8').split('\n').filter(Boolean),
    receive: (key) => writeFileSync(receiver, `${key}\n`, { flag: 'a' }),
    async perform(key) {
      performed.push(key);
      for (let turns = Math.floor(random() * 4); turns > 0; turns--) await new Promise((next) => setImmediate(next));
    },
  };
}

/** What a process that died has left. */
export function storeWith(runId: string, batches: readonly StoredBatch[], from?: Store): Store {
  const store = memoryStore();
  // Long ago, so that the lease of the one who died is over.
  const lease = store.create({ id: runId, name: 'test', createdAt: 0 }, { id: 'gone', host: 'elsewhere', pid: 1 }, 0);
  const blobs = blobsOf(batches, from);
  store.append(batches.map((batch, at) => ({ ...batch, lease, ...(at === 0 ? { blobs } : {}) })));
  return store;
}

function blobsOf(batches: readonly StoredBatch[], from: Store | undefined) {
  const digests = batches.flatMap(({ text }) =>
    [...text.matchAll(/"blob":"([^"]+)"/g)].map(([, digest]) => digest ?? ''),
  );
  return digests.flatMap((digest) => {
    const text = from?.blob(digest);
    return text === undefined ? [] : [{ digest, text }];
  });
}

/** A beginning of a journal. */
export interface Prefix {
  readonly name: string;
  readonly batches: readonly StoredBatch[];
  /** Lines that count. */
  readonly lines: readonly string[];
}

/** Every beginning of a journal: after each batch, after each line, and with the last batch torn. */
export function prefixesOf(runId: string, batches: readonly StoredBatch[]): Prefix[] {
  const found: Prefix[] = [];
  batches.forEach((batch, at) => {
    const before = batches.slice(0, at);
    const linesBefore = before.flatMap(({ text }) => text.split('\n'));
    const lines = batch.text.split('\n');
    const sumBefore = before.at(-1)?.sum ?? FIRST_SUM;
    // The first batch says what the run is: without all of it, nothing has run.
    for (let count = at === 0 ? lines.length : 1; count <= lines.length; count++) {
      const text = lines.slice(0, count).join('\n');
      const last = { seq: at, text, sum: chainSum(sumBefore, runId, at, text) };
      const name = `batch ${at}, ${count} of ${lines.length} lines`;
      found.push({ name, batches: [...before, last], lines: [...linesBefore, ...lines.slice(0, count)] });
    }
    if (at === 0) return;
    const torn = { ...batch, text: batch.text.slice(0, Math.floor(batch.text.length / 2)) };
    found.push({ name: `batch ${at} torn`, batches: [...before, torn], lines: linesBefore });
  });
  return found;
}

/** The keys whose outcome is recorded, in order. */
export function doneKeys(lines: readonly string[]): string[] {
  return lines
    .map((line) => JSON.parse(line) as { t: string; key: string; cleanup?: true })
    .filter(({ t, cleanup }) => t === 'done' && cleanup !== true)
    .map(({ key }) => key);
}

/** The lines of a journal. */
export function linesOf(store: Store, runId: string): string[] {
  return store.read(runId).flatMap(({ text }) => text.split('\n'));
}

/** Whether an effect reached its receiver: the call of a program writes a word of its own. */
export function isDone(world: MemoryWorld, key: string): boolean {
  const received = world.received();
  return received.includes(key) || (key === 'worker@tool#1.2' && received.includes('shell'));
}
