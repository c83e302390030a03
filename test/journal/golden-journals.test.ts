import { describe, expect, test } from 'vitest';
import { RECORD_VERSION } from '../../src/journal/record.js';
import { replay } from '../../src/journal/replay.js';
import { goldenNames, readGolden, summaryOf } from './golden-file.js';
import { handMadeJournals, versionInTheMaking } from './write-golden.js';

const goldens = goldenNames();

describe('a journal of every version that was released', () => {
  test.each(goldens)('$version: $name still says what it said', ({ version, name }) => {
    const { runId, batches, expected } = readGolden(version, name);
    expect(batches.length).toBeGreaterThan(1);
    expect(summaryOf(replay(runId, batches))).toEqual(expected);
  });
});

test.each(handMadeJournals())('$name is written by this version as its golden journal has it', ({ name, batches }) => {
  expect(readGolden(versionInTheMaking(), name).batches).toEqual(batches);
});

test('the golden journals of this version have every kind of record, in the version that is written', () => {
  const lines = goldens
    .filter(({ version }) => version === versionInTheMaking())
    .flatMap(({ version, name }) => readGolden(version, name).batches)
    .flatMap(({ text }) => text.split('\n'));
  const heads = lines.map((line) => JSON.parse(line) as { v: number; t: string });
  expect(new Set(heads.map(({ v }) => v))).toEqual(new Set([RECORD_VERSION]));
  expect([...new Set(heads.map(({ t }) => t))].toSorted()).toEqual([
    'begin',
    'done',
    'end',
    'log',
    'open',
    'pause',
    'start',
    'timer',
  ]);
});
