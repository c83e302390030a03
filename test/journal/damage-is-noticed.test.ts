import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '../../src/base/errors.js';
import type { RunHistory } from '../../src/journal/history.js';
import { replay } from '../../src/journal/replay.js';
import type { StoredBatch } from '../../src/journal/store.js';
import { THOROUGH } from '../thorough.js';
import { longJournal, stored, storedTexts } from './examples.js';

const RUN = 'run-1';
const journal = stored(RUN, longJournal(RUN));
const last = journal.length - 1;
const places = [...journal.keys()];
/** What the first n batches say, by n. */
const prefixes: (RunHistory | undefined)[] = [undefined];
const records = journal.flatMap(({ text }) => text.split('\n')).length;

beforeAll(() => {
  for (let n = 1; n <= journal.length; n++) prefixes.push(replay(RUN, journal.slice(0, n)));
});

type Verdict = { readonly history: RunHistory } | { readonly refused: SkeinError };

function tryReplay(batches: readonly StoredBatch[]): Verdict {
  try {
    return { history: replay(RUN, batches) };
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_JOURNAL') return { refused: error };
    throw error;
  }
}

function withBatch(at: number, batch: Partial<StoredBatch>): StoredBatch[] {
  return journal.map((own, i) => (i === at ? { ...own, ...batch } : own));
}

/** Refused, and the position is that of the damage. Plain comparisons: it is called some ten thousand times. */
function expectRefused(batches: readonly StoredBatch[], batch: number): void {
  const verdict = tryReplay(batches);
  if (!('refused' in verdict)) throw new Error(`damage of batch ${batch} was not noticed`);
  const { details, message } = verdict.refused;
  const { run, batch: named } = details as { run?: unknown; batch?: unknown };
  const told = message.startsWith(`the journal of the run ${RUN} can't be used: batch ${batch}`);
  if (run !== RUN || named !== batch || !told) throw new Error(`the place of batch ${batch} is not told: ${message}`);
}

/** The last batch is left out, and nothing else. */
function expectCut(batches: readonly StoredBatch[], kept: number): void {
  const verdict = tryReplay(batches);
  if ('refused' in verdict) throw verdict.refused;
  const { cut, ...history } = verdict.history;
  if (cut?.startsWith(`batch ${kept} `) !== true) throw new Error(`batch ${kept} is not what was cut: ${cut}`);
  if (!isDeepStrictEqual(history, prefixes[kept])) throw new Error(`what is left is not what ${kept} batches say`);
}

/** Batches that follow each other begin at different bytes, so that all places of a line have their turn. */
const STRIDE = THOROUGH ? 1 : 5;

/** Each byte, or each fifth, of a text changed in one bit, which bit depends on the place; as a store would give it back. */
function* flips(text: string, batch: number): Generator<string> {
  const bytes = Buffer.from(text);
  for (let i = batch % STRIDE; i < bytes.length; i += STRIDE) {
    const flipped = Buffer.from(bytes);
    flipped[i] = (flipped[i] ?? 0) ^ (1 << (i % 8));
    yield flipped.toString('utf8');
  }
}

test('the journal of these tests is not trivial', () => {
  expect(records).toBeGreaterThan(190);
  expect(journal.length).toBeGreaterThan(50);
  expect(journal.map(({ text, sum }) => text + sum).join('').length).toBeGreaterThan(10_000);
});

describe('a changed byte', () => {
  test.each(places.slice(0, -1))('of batch %i is refused with its position', (at) => {
    const { text, sum } = journal[at]!;
    for (const other of flips(text, at)) expectRefused(withBatch(at, { text: other }), at);
    for (const other of flips(sum, at)) expectRefused(withBatch(at, { sum: other }), at);
  });

  test('of the last batch cuts that batch off', () => {
    const { text, sum } = journal[last]!;
    for (const other of flips(text, last)) expectCut(withBatch(last, { text: other }), last);
    for (const other of flips(sum, last)) expectCut(withBatch(last, { sum: other }), last);
  });

  test('that breaks a line is told with the line', () => {
    const at = journal.findIndex(({ text }, i) => i > 5 && text.split('\n').length >= 4);
    const lines = journal[at]?.text.split('\n') ?? [];
    lines[2] = lines[2]?.replace('"', "'") ?? '';
    const verdict = tryReplay(withBatch(at, { text: lines.join('\n') }));
    expect('refused' in verdict && verdict.refused.message).toContain(`batch ${at}, line 3: it is not JSON`);
    expect('refused' in verdict && verdict.refused.details).toEqual({ run: RUN, batch: at, line: 3 });
  });
});

describe('a batch', () => {
  test.each(places)('%i left out, moved or doubled is refused', (at) => {
    if (at < last) expectRefused(journal.toSpliced(at, 1), at);
    expectRefused(journal.toSpliced(at, 0, journal[at]!), at + 1);
    if (at < last) expectRefused(journal.toSpliced(at, 2, journal[at + 1]!, journal[at]!), at);
    expectRefused(withBatch(at, { seq: at + 1 }), at);
  });

  test.each(places.slice(1))('%i in the place of another, with its number, is not taken', (at) => {
    const { text, sum } = journal[at === 1 ? 2 : 1]!;
    if (at === last) expectCut(withBatch(at, { text, sum }), at);
    else expectRefused(withBatch(at, { text, sum }), at);
  });

  test('of another run is not taken', () => {
    const other = stored('run-2', longJournal('run-2'));
    for (const at of journal.keys()) {
      if (at === last) expectCut(withBatch(at, other[at]!), at);
      else expectRefused(withBatch(at, other[at]!), at);
    }
  });

  test('that was summed up anew is noticed by the batch after it', () => {
    // Of the last but one it would look torn: sums find damage, not people who sum up anew.
    for (let at = 1; at < last - 1; at++) {
      const texts = journal.map(({ text }) => text);
      texts[at] = texts[at]!.replace(/"at":\d+/, '"at":1234');
      const forged = storedTexts(RUN, texts)[at]!;
      expect(forged.sum).not.toBe(journal[at]!.sum);
      expectRefused(withBatch(at, forged), at + 1);
    }
  });
});

describe('a whole journal', () => {
  test('of another run is refused under this name', () => {
    expectRefused(stored('run-2', longJournal('run-2')), 0);
    expectRefused(stored(RUN, longJournal('run-2')), 0);
  });

  test('of which nothing is left says that the run never began', () => {
    for (const batches of [[], [{ ...journal[0]!, text: journal[0]!.text.slice(0, 20) }]]) {
      const verdict = tryReplay(batches);
      expect('refused' in verdict && verdict.refused.message).toContain(`${RUN} never began`);
    }
  });

  test('with records that nobody tore is refused, also at its end: they were written like that', () => {
    for (const line of ['{"v":1,"t":"nonsense","at":1}', '{"v":2,"t":"done"}', '', `${journal[5]!.text}\n`]) {
      const batches = storedTexts(RUN, [...journal.slice(0, 4).map(({ text }) => text), line]);
      expectRefused(batches, 4);
    }
  });

  test('of a newer Skein says to upgrade', () => {
    const verdict = tryReplay(storedTexts(RUN, [journal[0]!.text, '{"v":2,"t":"wonder"}']));
    expect('refused' in verdict && verdict.refused).toMatchObject({
      hint: expect.stringContaining('upgrade') as string,
    });
  });
});

describe('after a crash a journal is what was committed', () => {
  test('with the tail kept or dropped', () => {
    for (let n = 1; n <= journal.length; n++) {
      expect(prefixes[n]).toMatchObject({ batches: n, sum: journal[n - 1]!.sum });
      expect(prefixes[n]).not.toHaveProperty('cut');
    }
    const keys = (history: RunHistory | undefined): number => [...(history?.entries.values() ?? [])].flat().length;
    for (let n = 1; n < journal.length; n++) expect(keys(prefixes[n + 1])).toBeGreaterThanOrEqual(keys(prefixes[n]));
  });

  // The first 25 batches are the tail once each: the time grows with the square.
  test.each(places.slice(1, 25))('with the tail torn at any byte: batch %i', (n) => {
    const { seq, text, sum } = journal[n]!;
    const before = journal.slice(0, n);
    const bytes = Buffer.from(text);
    for (let length = 0; length < bytes.length; length++) {
      expectCut([...before, { seq, sum, text: bytes.subarray(0, length).toString('utf8') }], n);
    }
    for (let length = 0; length < sum.length; length++) {
      expectCut([...before, { seq, text, sum: sum.slice(0, length) }], n);
    }
  });

  test('with the last two batches torn it is refused: a store commits one after the other', () => {
    const torn = journal.map((batch, at) => (at >= last - 1 ? { ...batch, text: batch.text.slice(0, 9) } : batch));
    expectRefused(torn, last - 1);
  });

  test('and goes on behind the cut', () => {
    const { batches, sum } = replay(RUN, withBatch(last, { text: 'x' }));
    expect({ batches, sum }).toEqual({ batches: last, sum: journal[last - 1]!.sum });
    const goneOn = storedTexts(RUN, [
      ...journal.slice(0, last).map(({ text }) => text),
      '{"v":1,"t":"open","at":1,"fence":4}',
    ]);
    expect(replay(RUN, [...journal.slice(0, batches), goneOn[last]!]).sessions).toHaveLength(4);
  });
});
