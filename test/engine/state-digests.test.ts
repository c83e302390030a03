import { RunLabels } from '../../src/engine/state/run-labels.js';
import { describe, expect, test } from 'vitest';
import { digestText } from '../../src/base/hash.js';
import { recordText } from '../../src/base/json.js';
import type { Cell, Writer } from '../../src/engine/state/cell.js';
import { cellDigest, inputCell, writeCell } from '../../src/engine/state/cell.js';
import { mergeVersions } from '../../src/engine/state/merge.js';
import { EMPTY_VERSION } from '../../src/engine/state/version.js';
import type { Version } from '../../src/engine/state/version.js';
import type { Reducer } from '../../src/plan/reducers.js';
import { reducerFor } from '../../src/plan/reducers.js';
import { seededRandom } from '../../src/testing/index.js';

const APPEND = reducerFor('append');
const SEED = process.env['SKEIN_SEED'] ?? '1';

function writer(place: number, visit = 1): Writer {
  return { compiled: { index: place, place }, round: 0, visit };
}

/** Writes of one channel, in plan order; `recorded` as a back end with a journal has it. */
function write(version: Version, value: unknown, place: number, epoch: number, reducer?: Reducer): Version {
  const cell = writeCell(version.get(0), value, writer(place), { epoch, recorded: true }, reducer);
  return version.with(0, cell);
}

function digest(version: Version, reducer?: Reducer): string {
  const cell: Cell | undefined = version.get(0);
  return cell === undefined ? '' : cellDigest(cell, reducer);
}

/** The digest of a list that was appended to, without any structure: the slow reference. */
function reference(initial: readonly unknown[], contributions: readonly unknown[]): string {
  const base = digestText(`${digestText(recordText(initial))} append`);
  return contributions.reduce<string>((sum, one) => digestText(`${sum} ${digestText(recordText(one))}`), base);
}

/** The same contributions in the same order, with epochs and branches as the seed has it. */
function appendInAnyStructure(contributions: readonly unknown[], random: () => number): Version {
  let version = EMPTY_VERSION;
  if (random() < 0.5) version = version.with(0, inputCell([], APPEND));
  let epoch = 0;
  let at = 0;
  while (at < contributions.length) {
    if (random() < 0.5) epoch += 1;
    const width = Math.min(1 + Math.floor(random() * 4), contributions.length - at);
    const from = version;
    // Asking in between must change nothing.
    if (random() < 0.5) digest(version, APPEND);
    const branches = contributions.slice(at, at + width).map((value, n) => write(from, value, at + n, epoch, APPEND));
    if (random() < 0.3) for (const branch of branches) digest(branch, APPEND);
    version = random() < 0.5 ? merge(branches) : branches.reduce((all, branch) => merge([branch, all]));
    at += width;
  }
  return version;
}

function merge(versions: readonly Version[]): Version {
  return mergeVersions(versions, [APPEND], new RunLabels()).version;
}

describe('digests of the state (J2)', () => {
  test('the same contributions in the same order have the same digest, whatever the epochs and branches', () => {
    const random = seededRandom(`digests ${SEED}`);
    const known = new Map<string, string>();
    for (let round = 0; round < 400; round++) {
      const contributions = Array.from({ length: Math.floor(random() * 12) }, () => Math.floor(random() * 3));
      const version = appendInAnyStructure(contributions, random);
      const found = version.get(0) === undefined ? reference([], []) : digest(version, APPEND);
      expect(found, JSON.stringify(contributions)).toBe(reference([], contributions));
      known.set(found, JSON.stringify(contributions));
    }
    expect(new Set(known.values()).size).toBe(known.size);
    expect(known.size).toBeGreaterThan(100);
  });

  test('an input is where the chain begins', () => {
    const version = EMPTY_VERSION.with(0, inputCell(['x'], APPEND));
    expect(digest(version, APPEND)).toBe(reference(['x'], []));
    expect(digest(write(version, 'y', 1, 1, APPEND), APPEND)).toBe(reference(['x'], ['y']));
    expect(digest(write(EMPTY_VERSION, 'y', 1, 1, APPEND), APPEND)).toBe(reference([], ['y']));
  });

  test('who wrote it, and when, does not count; what folds it does', () => {
    const one = write(EMPTY_VERSION, 5, 1, 1);
    expect(digest(write(one, 5, 2, 7))).toBe(digest(one));
    expect(digest(write(one, 6, 2, 7))).not.toBe(digest(one));
    expect(digest(one)).toBe(digestText('5'));
    const last = (_old: unknown, value: unknown): unknown => value;
    const first = (old: unknown, value: unknown): unknown => old ?? value;
    const folded = [reducerFor('append'), reducerFor('extend'), reducerFor(last), reducerFor(first)].map((reducer) =>
      digest(write(EMPTY_VERSION, [5], 1, 1, reducer), reducer),
    );
    expect(new Set(folded).size).toBe(4);
  });

  test('each contribution is looked at once, in a row of 2,000 as in a join of 500', () => {
    let looks = 0;
    const looked = (): unknown => ({
      get it(): string {
        looks += 1;
        return 'x';
      },
    });
    digestText(recordText(looked()));
    const once = looks;
    looks = 0;
    let row = EMPTY_VERSION;
    for (let at = 0; at < 2_000; at++) {
      row = write(row, looked(), 0, at + 1, APPEND);
      digest(row, APPEND);
    }
    expect(looks).toBe(2_000 * once);
    looks = 0;
    const branches = Array.from({ length: 500 }, (_, at) => write(EMPTY_VERSION, looked(), at, 1, APPEND));
    const joined = merge(branches);
    const first = digest(joined, APPEND);
    expect(digest(write(joined, looked(), 501, 2, APPEND), APPEND)).not.toBe(first);
    expect(digest(joined, APPEND)).toBe(first);
    expect(looks).toBe(501 * once);
  });

  test('nothing is digested when nobody asks', () => {
    const untouchable = new Proxy({}, { ownKeys: () => expect.unreachable('it was looked into') });
    let version = EMPTY_VERSION;
    for (let epoch = 1; epoch < 5; epoch++) {
      const cell = writeCell(version.get(0), untouchable, writer(epoch), { epoch, recorded: false }, APPEND);
      version = version.with(0, cell);
    }
    expect(version.get(0)?.folded?.base).toBeUndefined();
  });

  test('a value that is not JSON has no digest', () => {
    expect(() => digest(write(EMPTY_VERSION, new Date(0), 1, 1))).toThrow(
      expect.objectContaining({ code: 'SKEIN_NOT_JSON' }),
    );
  });
});
