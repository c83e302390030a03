import { afterAll, describe, expect, it } from 'vitest';
import { tell } from '../guard/support/figures.js';
import { EACH_WAY } from '../thorough.js';
import type { CheckedOut } from './support/checked-out.js';
import { checkOut, removeWhatRanBefore } from './support/checked-out.js';
import type { Checkout } from './support/checkouts.js';
import { CHECKOUTS } from './support/checkouts.js';
import type { Traced } from './support/traced.js';
import { tracedServed, whyUntraced } from './support/traced.js';

afterAll(removeWhatRanBefore);

const untraced = whyUntraced();
if (untraced !== undefined)
  console.log(`system calls are not looked at, only files and a server that counts: ${untraced}`);

/** Commands that would start what the file names. */
const STARTING = [
  (file: string) => ['run', file],
  (file: string) => ['exec', file],
  (file: string) => ['run', file, '--thread', 'ada', '--yes'],
  () => ['resume', '-1'],
  () => ['fork', '-1', '--from', 's'],
];

/** Commands that only look at a file, or at what is recorded. */
const LOOKING = [
  (file: string) => ['validate', file],
  (file: string) => ['plan', file],
  (file: string) => ['graph', file],
  (file: string) => ['validate', file, '--powers'],
  (file: string) => ['trust', file],
  () => ['answer', '-1'],
  () => ['threads'],
  () => ['thread', 'ada'],
  () => ['show', '-1', '--taint'],
];

/** Checkouts in turn meet another command that starts, and one that looks; under `npm run test:security`, all. */
const some = <T>(all: readonly T[], at: number, odd: 0 | 1): readonly T[] =>
  EACH_WAY ? all : all.filter((_, index) => at % 2 === odd && index === Math.floor(at / 2) % all.length);

/** The commands that a checkout meets. A run that is recorded began with `flow.yaml`. */
function commandsFor(at: number, { file }: CheckedOut) {
  const starting = STARTING.filter((make) => file === 'flow.yaml' || make.length > 0);
  const [run, ...others] = starting.map((make) => make(file));
  return {
    starting: [run ?? [], ...some(others, at, 0)],
    looking: some(LOOKING, at, 1).map((make) => make(file)),
  };
}

let lines = 0;

/** Nothing was seen of it: no process, no connection, no file that was changed, none that was read elsewhere. */
async function quietly(checkedOut: CheckedOut, words: readonly string[]): Promise<Traced> {
  const before = await checkedOut.files();
  const end = await tracedServed(words, checkedOut.places);
  lines += 1;
  const found = { words, seen: end.seen ?? [], reached: checkedOut.reached(), files: await checkedOut.files() };
  expect(found).toEqual({ words, seen: [], reached: 0, files: before });
  return end;
}

describe('[G9] [T10] before a yes nothing starts, nothing leaves, nothing is written and nothing elsewhere is read', () => {
  it.each(CHECKOUTS.map((checkout, at) => [checkout.what, checkout, at] as const))('%s', async (_, checkout, at) => {
    const checkedOut = await checkOut(checkout);
    const { starting, looking } = commandsFor(at, checkedOut);
    for (const words of starting) {
      const end = await quietly(checkedOut, words);
      expect({ words, code: end.code, stdout: end.stdout }).toEqual({ words, code: 2, stdout: '' });
      expect(end.stderr).toContain('can do more than read the project, and you have not said yes to it');
      expect(end.stderr).toMatch(checkout.told);
    }
    for (const words of looking) await looksOnly(checkout, checkedOut, words);
    await happensAfterwards(checkout, checkedOut);
  });

  it('counts them', () => {
    expect(CHECKOUTS.length).toBeGreaterThanOrEqual(31);
    tell({
      what: `hostile checkouts (${lines} command lines${untraced === undefined ? ' under strace' : ''})`,
      n: CHECKOUTS.length,
      forbidden: 0,
      goal: 'nothing before a yes',
    });
  });
});

async function looksOnly(checkout: Checkout, checkedOut: CheckedOut, words: readonly string[]): Promise<void> {
  const end = await quietly(checkedOut, words);
  const [command = '', , flag] = words;
  if (['validate', 'plan', 'graph'].includes(command) && flag === undefined)
    expect({ words, code: end.code, stderr: end.stderr }).toMatchObject({ code: checkout.looks === 'refused' ? 2 : 0 });
  if (command === 'trust' || flag === '--powers') expect(end.stdout).toMatch(checkout.told);
}

/** A trace that sees nothing would let everything pass. */
async function happensAfterwards({ after }: Checkout, { places, file }: CheckedOut): Promise<void> {
  if (after === undefined || untraced !== undefined) return;
  const { seen = [], stderr } = await tracedServed(['run', file, '--trust', '--no-store'], places);
  expect({ stderr, seen: seen.join('\n') }).toMatchObject({ seen: expect.stringMatching(after) as string });
}
