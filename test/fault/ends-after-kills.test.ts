import { expect, test } from 'vitest';
import { readRun } from '../../src/index.js';
import type { RunResult } from '../../src/engine/run.js';
import { memoryStore } from '../../src/stores/memory.js';
import { doneKeys, linesOf, memoryWorld, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { THOROUGH } from '../thorough.js';
import { BAD_ENDS } from './support/ends.js';
import { complete, session } from './support/session.js';

test.each(Object.entries(BAD_ENDS))(
  '[addition 10] killed at any record, it ends as it would have, and nothing that may be done once is done twice: %s',
  async (name, end) => {
    const calm = memoryWorld(name);
    const store = memoryStore();
    const wanted = await complete(await end.build(calm), store, { runId: 'r' }, () => false);
    expect([wanted.outcome, wanted.error?.code]).toEqual([end.outcome, end.code]);
    // With the end of the session, what failed would be tried again.
    const isOpen = ({ lines }: { readonly lines: readonly string[] }): boolean =>
      end.code === 'SKEIN_ENDED' || !/"t":"end".*"outcome":"(failed|degraded)"/.test(lines.at(-1) ?? '');
    const prefixes = prefixesOf('r', store.read('r')).filter(isOpen);
    const stride = THOROUGH ? 1 : 6;
    for (const [at, prefix] of prefixes.entries()) {
      if (at % stride > 0) continue;
      const world = memoryWorld(`${name} ${at}`);
      const done = doneKeys(prefix.lines);
      // Of what was begun and has no end, every other one has happened. What is cut off at the end of the run has no end at all.
      const happened = new Set(
        startedKeys(prefix.lines).filter(
          (key, place) => done.includes(key) || (key !== CUT_OFF && (place + at) % 2 === 0),
        ),
      );
      const copy = storeWith('r', prefix.batches, store);
      const built = await end.build(world);
      const { outcome, error, state, census } = await complete(
        built,
        copy,
        { resume: 'r' },
        (key) => happened.has(key) || world.received().includes(key),
      );
      expect([prefix.name, { outcome, error, state, census }]).toEqual([prefix.name, verdictOf(wanted)]);
      const words = [...world.received(), ...[...happened].filter((key) => calm.received().includes(key))];
      expect([prefix.name, words.filter((key) => key === CUT_OFF).length < 2]).toEqual([prefix.name, true]);
      expect([prefix.name, ...leftBy(words)]).toEqual([prefix.name, ...leftBy(calm.received())]);
    }
  },
);

const CUT_OFF = 'slow@tool#1.1';

function verdictOf({ outcome, error, state, census }: RunResult) {
  return { outcome, error, state, census };
}

/** What commands left that came to their end. */
function leftBy(words: readonly string[]): readonly string[] {
  return words.filter((key) => key !== CUT_OFF).toSorted();
}

/** Keys of effects that were begun. */
function startedKeys(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const { t, key } = JSON.parse(line) as { t: string; key: string };
    return t === 'start' ? [key] : [];
  });
}

test('[addition 9] what was cut off by an end asks nothing when the run goes on from its record', async () => {
  const world = memoryWorld('questions');
  const store = memoryStore();
  const built = await BAD_ENDS['an end that says failed']?.build(world);
  if (built === undefined) throw new Error('no such end');
  const { questions } = await session(built, store, { runId: 'r' });
  const again = await session(built, store, { resume: 'r' });
  expect([again.outcome, again.questions.map(({ key }) => key)]).toEqual(['paused', questions.map(({ key }) => key)]);
  expect(readRun(store, 'r').questions.map(({ key }) => key)).toEqual(['finally/tell@ask:guard#1.1']);
  expect(linesOf(store, 'r').filter((line) => line.includes('"t":"pause"'))).toHaveLength(1);
  await complete(built, store, { resume: 'r' }, () => false);
  const outcomes = Object.fromEntries(readRun(store, 'r').steps.map(({ path, outcome }) => [path, outcome]));
  expect(outcomes).toMatchObject({
    slow: 'cancelled',
    stop: 'failed',
    'finally/tell': 'succeeded',
    finally: 'succeeded',
  });
});
