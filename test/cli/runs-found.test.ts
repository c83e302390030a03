import { describe, expect, test } from 'vitest';
import { findRun, shortId } from '../../src/cli/runs/find-run.js';
import { lineDiff } from '../../src/cli/runs/line-diff.js';
import { answerCommands, shellWord } from '../../src/cli/runs/text.js';
import type { OpenQuestion } from '../../src/events/question.js';
import { rejected } from '../thrown.js';

const NEW = '01a2004c-c9dc-7012-8345-0000abcdef01';
const OLD = '01a2004c-aaaa-7012-8345-1111abcdef01';
const RUNS = [NEW, OLD, 'nightly'];
const recorded = (ids: readonly string[]) => ({ ids, threads: () => Promise.resolve(["Ann's mail"]) });

describe('a run is found', () => {
  test.each([
    [NEW, NEW],
    ['-1', NEW],
    ['-3', 'nightly'],
    ['01a2004c-a', OLD],
    ['1abcdef01', OLD],
    ['night', 'nightly'],
  ])('by %s', async (text, id) => {
    expect(await findRun(recorded(RUNS), text)).toBe(id);
  });

  test('by all of its id, also when that is a part of another', async () => {
    expect(await findRun(recorded(['r1', 'r']), 'r')).toBe('r');
  });

  test.each([
    ['abcdef01', 'matches 2 runs', NEW],
    ['-4', '3 runs are recorded here', '-1 is the newest'],
    ['-0', 'there is no run -0', '-1 is the newest'],
    ['', 'there is no run', 'skein runs'],
    ['nihgtly', 'there is no run nihgtly', 'did you mean "nightly"?'],
  ])('or refused: %j', async (text, message, hint) => {
    const error = await rejected(() => findRun(recorded(RUNS), text));
    expect(error.code).toBe('SKEIN_NO_RUN');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
  });

  test.each([[RUNS], [[]]])('and a conversation is told from a run, among %j', async (ids) => {
    const error = await rejected(() => findRun(recorded(ids), "Ann's mail"));
    expect(error.message).toBe("Ann's mail is a conversation, not a run");
    expect(error.hint).toContain(String.raw`skein thread 'Ann'\''s mail' shows`);
    expect(error.hint).toContain(String.raw`skein run FILE --thread 'Ann'\''s mail' continues`);
  });

  test('by its short id, which is long enough to be its own', async () => {
    expect(RUNS.map((id) => shortId(id, RUNS))).toEqual(['0abcdef01', '1abcdef01', 'nightly']);
    expect(shortId(NEW, [NEW])).toBe('abcdef01');
    for (const id of RUNS) expect(await findRun(recorded(RUNS), shortId(id, RUNS))).toBe(id);
  });
});

test.each([
  ['a\nb\nc', 'a\nc', ['- b']],
  ['a\nc', 'a\nb\nc', ['+ b']],
  ['a', 'b', ['- a', '+ b']],
  ['x\na\nb\ny', 'x\nb\nc\ny', ['- a', '+ c']],
  ['same', 'same', []],
  ['a\na', 'a', ['- a']],
])('lines of %j that are others in %j', (before, after, lines) => {
  expect(lineDiff(before, after)).toEqual(lines);
});

describe('the command that answers', () => {
  const pause = (key: string, name: string): OpenQuestion => ({
    key: `${key}@answer`,
    id: '',
    path: key,
    name,
    question: '?',
    askedAt: 0,
  });

  test('names the step where Skein named the question, and an event by its own name', () => {
    const asked = { ...pause('size', '1'), key: 'size@ask:1' };
    const { question: _question, ...waits } = pause('paid', 'payment');
    expect([asked, waits].flatMap((one) => answerCommands(one, [asked, waits], 'r1'))).toEqual([
      'skein answer r1 size VALUE',
      'skein answer r1 payment [VALUE]',
    ]);
    const twice = [asked, { ...asked, name: '2', key: 'size@ask:2' }];
    expect(twice.flatMap((one) => answerCommands(one, twice, 'r1'))).toEqual([
      'skein answer r1 size@ask:1 VALUE',
      'skein answer r1 size@ask:2 VALUE',
    ]);
  });

  test('has the shortest words that mean this question alone, as a shell takes them', () => {
    const pauses = [pause('publish', 'publish'), pause('each[a b]/ask', 'ask'), pause('each[c]/ask', 'ask')];
    expect(pauses.flatMap((one) => answerCommands(one, pauses, 'r1'))).toEqual([
      'skein answer r1 publish VALUE',
      "skein answer r1 'each[a b]/ask' VALUE",
      "skein answer r1 'each[c]/ask' VALUE",
    ]);
  });

  test.each([
    ["it's", String.raw`'it'\''s'`],
    ['$(rm)', "'$(rm)'"],
    ['', "''"],
    ['a\u001b[2J', String.raw`'a\x1b[2J'`],
    ['loop#2/ask@answer', 'loop#2/ask@answer'],
  ])('quotes %j', (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});
