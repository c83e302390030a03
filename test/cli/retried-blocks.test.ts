import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Ended } from './support/skein.js';
import { documentOf, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `agents:
  scout: { instruction: You look. }
  editor: { instruction: You write. }
workflow:
  - id: par
    type: parallel
    retry: { max_attempts: 2, initial_delay: 1ms }
    steps:
      - { id: a, type: agent, name: scout }
      - { id: b, type: agent, name: scout }
  - id: sub
    type: call
    file: sub.yaml
    retry: { max_attempts: 1, initial_delay: 1ms }
  - { id: end, type: agent, name: editor, prompt: "{{ $steps.par.outputs.a.output }}, {{ $steps.sub.output }}" }
`;

/** What is retried holds something that is retried itself. */
const SUB = `agents:
  scout: { instruction: You look. }
workflow:
  - id: inner
    type: parallel
    retry: { max_attempts: 1, initial_delay: 1ms }
    steps:
      - { id: c, type: agent, name: scout }
      - { id: d, type: agent, name: scout }
  - { id: last, type: agent, name: scout }
`;

// An error comes after the answer beside it: steps that are cancelled say nothing.
const SCRIPT = `strict: false
rules:
  - { step: par/a, answers: [{ text: A one }, { text: A two }, { text: A three }] }
  - { step: par/b, answers: [{ delay: 50ms, error: { code: SKEIN_TOOL_FAILED, message: no luck } }, { delay: 50ms, error: { code: SKEIN_TOOL_FAILED, message: no luck } }, { text: B three }] }
  - { step: sub/inner/c, answers: [{ text: C one }, { text: C two }, { text: C three }] }
  - { step: sub/inner/d, answers: [{ delay: 50ms, error: { code: SKEIN_TOOL_FAILED, message: no luck } }, { text: D two }, { text: D three }] }
  - { step: sub/last, answers: [{ delay: 50ms, error: { code: SKEIN_TOOL_FAILED, message: no luck } }, { text: Last two }] }
  - { step: end, answer: { text: The end. } }
`;

const FILES = { 'flow.yaml': FLOW, 'sub.yaml': SUB, 'script.yaml': SCRIPT };

const CONTEXT = {
  order: ['par', 'sub', 'end'],
  steps: {
    par: { steps: { a: { output: 'A three' }, b: { output: 'B three' } } },
    sub: {
      steps: { inner: { steps: { c: { output: 'C three' }, d: { output: 'D three' } } }, last: { output: 'Last two' } },
    },
    end: { output: 'The end.' },
  },
};

async function exec(words: readonly string[] = []): Promise<{ readonly cwd: string; readonly end: Ended }> {
  const cwd = await makeProject(FILES);
  const end = await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--audit-dir=audit', ...words], { cwd });
  expect(end.code).toBe(0);
  return { cwd, end };
}

/** Answers of attempts that do not count. */
const FAILED_ATTEMPTS = /A one|A two|C one|C two|D two/;

test('[XP1] stdout and the step context have the attempt that counts', async () => {
  const { end } = await exec();
  expect(end.stdout).toBe(
    [
      '--- Agent: scout (par/a) ---\n\nA three\n',
      '--- Agent: scout (par/b) ---\n\nB three\n',
      '--- Agent: scout (sub/inner/c) ---\n\nC three\n',
      '--- Agent: scout (sub/inner/d) ---\n\nD three\n',
      '--- Agent: scout (sub/last) ---\n\nLast two\n',
      '--- Agent: editor (end) ---\n\nThe end.\n',
    ].join('\n'),
  );
  const [, context = ''] = /--- Step Context ---\n(\{\n[^]*?\n\})\n/.exec(end.stderr) ?? [];
  expect(JSON.parse(context)).toMatchObject(CONTEXT);
  expect(context).not.toMatch(FAILED_ATTEMPTS);
  // The live view tells of all attempts, by the same names.
  expect(end.stderr).toContain('step par tries again in 1ms');
  expect(end.stderr).not.toContain('~');
});

test('[XP1] --json has the attempt that counts, and what all of them cost', async () => {
  const { end } = await exec(['--json']);
  const document = documentOf(end) as { readonly steps: Readonly<Record<string, unknown>> };
  expect(document).toMatchObject({ outcome: 'succeeded', context: CONTEXT });
  expect(end.stdout).not.toMatch(FAILED_ATTEMPTS);
  expect(Object.keys(document.steps).toSorted()).toEqual(
    ['end', 'par', 'par/a', 'par/b', 'sub', 'sub/inner', 'sub/inner/c', 'sub/inner/d', 'sub/last'].toSorted(),
  );
  expect(document.steps).toMatchObject({
    par: { status: 'succeeded', attempts: 3 },
    'par/a': { status: 'succeeded', output: 'A three', modelCalls: 3 },
    'sub/inner/d': { status: 'succeeded', output: 'D three' },
  });
});

test('[XP1] the record shows the attempt that counts: show, compare, a resume and a fork', async () => {
  const { cwd } = await exec();
  const shown = JSON.parse((await served(['show', '-1', '--json'], { cwd })).stdout) as {
    readonly steps: readonly { readonly path: string; readonly outcome: string; readonly output?: unknown }[];
  };
  const outputs = Object.fromEntries(shown.steps.map(({ path, outcome, output }) => [path, output ?? outcome]));
  expect(outputs).toEqual({
    'par/a': 'A three',
    'par/b': 'B three',
    'sub/inner/c': 'C three',
    'sub/inner/d': 'D three',
    'sub/last': 'Last two',
    par: 'succeeded',
    sub: 'succeeded',
    end: 'The end.',
  });
  const resumed = await served(['resume', '-1', '--json'], { cwd });
  expect(documentOf(resumed)).toMatchObject({ outcome: 'succeeded', ran: 0, context: CONTEXT });
  const forked = await served(['fork', '-1', '--from', 'end', '--json'], { cwd });
  expect(documentOf(forked)).toMatchObject({ outcome: 'succeeded', ran: 1, context: CONTEXT });
  const compared = await served(['compare', '-1', '-2'], { cwd });
  expect(compared.stdout).not.toContain('~');
  expect(compared.stdout).not.toContain('≠');
});

test('[XP1] the audit folder has all attempts, and says which do not count', async () => {
  const { cwd } = await exec();
  const files = (await filesIn(join(cwd, 'audit'))).filter((file) => file.endsWith('step.meta.json'));
  const metas = files.map(
    (file) => JSON.parse(readFileSync(join(cwd, 'audit', file), 'utf8')) as Record<string, unknown>,
  );
  const counting = metas.filter((meta) => meta['abandoned'] !== true).map((meta) => meta['path']);
  expect(counting.map(String).toSorted()).toEqual(
    [
      'end',
      'par',
      'par~3/a',
      'par~3/b',
      'sub',
      'sub~2/inner',
      'sub~2/inner/c',
      'sub~2/inner/d',
      'sub~2/last',
    ].toSorted(),
  );
  const folderOf = (path: string): string => files[metas.findIndex((meta) => meta['path'] === path)] ?? '';
  const outputOf = (path: string): string =>
    readFileSync(join(cwd, 'audit', folderOf(path).replace('step.meta.json', 'output.md')), 'utf8');
  expect(outputOf('par~3/a')).toBe('A three');
  expect(outputOf('par/a')).toBe('A one');
  expect(metas.find((meta) => meta['path'] === 'sub~2/inner/c')).toMatchObject({ agent: 'scout', depends_on: [] });
});

test('[XP1] what fails in its last attempt is told with what that attempt said', async () => {
  const cwd = await makeProject({
    ...FILES,
    'script.yaml': SCRIPT.replace(
      '{ text: B three }',
      '{ delay: 50ms, error: { code: SKEIN_TOOL_FAILED, message: gone } }',
    ),
  });
  const end = await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--no-audit'], { cwd });
  expect(end.code).toBe(3);
  expect(end.stdout).toBe('--- Agent: scout (par/a) ---\n\nA three\n');
});
