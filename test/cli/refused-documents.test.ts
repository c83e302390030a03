import { describe, expect, test } from 'vitest';
import { CHAIN, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** What each command with `--json` refuses, and the code of the error, or of the first problem. */
const REFUSED: Readonly<Record<string, readonly [words: readonly string[], code: string, exit: number]>> = {
  run: [['missing.yaml'], 'file-missing', 2],
  exec: [['flow.yaml', 'hi', '--mock'], 'unknown-input', 2],
  resume: [['talk'], 'SKEIN_NO_RUN', 2],
  event: [['talk', 'go'], 'SKEIN_USAGE', 1],
  fork: [['-7'], 'SKEIN_NO_RUN', 2],
  trust: [['missing.yaml'], 'file-missing', 2],
  schema: [['nothing'], 'SKEIN_USAGE', 1],
  plan: [['missing.yaml'], 'file-missing', 2],
  runs: [['prun'], 'SKEIN_USAGE', 1],
  threads: [['remov'], 'SKEIN_USAGE', 1],
  thread: [['nobody'], 'SKEIN_NO_THREAD', 2],
  show: [['nothing'], 'SKEIN_NO_RUN', 2],
  logs: [['nothing'], 'SKEIN_NO_RUN', 2],
  compare: [['-1', '-9'], 'SKEIN_NO_RUN', 2],
  answer: [['-1', 'yes'], 'SKEIN_ANSWER', 2],
  budget: [['-1', 'plenty'], 'SKEIN_USAGE', 1],
  prices: [['nobody/nothing'], 'SKEIN_USAGE', 1],
};

interface Refusal {
  readonly outcome: string;
  readonly exitCode: number;
  readonly problems: readonly { readonly code: string }[];
  readonly error?: { readonly code: string; readonly message: string };
}

describe('what is refused with --json is one document on stdout', () => {
  test('by each command, for a reason of its own', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    expect(await served(['run', 'flow.yaml', '--mock', '--thread', 'talk'], { cwd })).toMatchObject({ code: 0 });
    for (const [name, [words, code, exit]] of Object.entries(REFUSED)) {
      const end = await served([name, ...words, '--json'], { cwd });
      const { outcome, exitCode, problems, error } = JSON.parse(end.stdout) as Refusal;
      expect({ name, outcome, exitCode, code: end.code }).toEqual({
        name,
        outcome: 'invalid',
        exitCode: exit,
        code: exit,
      });
      expect([problems[0]?.code, error?.code], name).toContain(code);
      expect(end.stderr, name).toContain('error');
    }
  });

  test('a flag that does not exist, for every command that takes --json', async () => {
    const cwd = await makeProject();
    const help = await served(['help'], { cwd });
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);
    const taking: string[] = [];
    for (const name of names) {
      const { stdout } = await served(['help', name], { cwd });
      if (!/^ +--json /m.test(stdout)) continue;
      taking.push(name);
      const end = await served([name, '--json', '--nothing-like-it'], { cwd });
      const { exitCode, error } = JSON.parse(end.stdout) as Refusal;
      expect({ name, exitCode, code: end.code }).toEqual({ name, exitCode: 1, code: 1 });
      expect(error).toMatchObject({
        code: 'SKEIN_USAGE',
        message: expect.stringContaining('--nothing-like-it') as string,
      });
    }
    // These two report on what they were given in their own document, and can refuse nothing else.
    expect(taking.filter((name) => !['validate', 'doctor'].includes(name)).toSorted()).toEqual(
      Object.keys(REFUSED).toSorted(),
    );
  });

  test.each([
    ['without --json', ['show', 'nothing']],
    ['by a command that has no such flag', ['graph', 'flow.yaml', '--json']],
    ['where it is a word of another program', ['show', 'nothing', '--', '--json']],
  ])('and nothing %s', async (_, words) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(words, { cwd });
    expect(end.stdout).toBe('');
    expect(end.code).not.toBe(0);
  });
});
