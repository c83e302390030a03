import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, documentOf, makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const WIDE = `name: wide
agents: { a: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: one, agent: a, prompt: 1 }
  - { id: two, agent: a, prompt: 2 }
  - { id: three, agent: a, prompt: 3 }
`;

/** The scripted model takes its time, so that steps that may overlap do. */
const PATIENT = `rules:
  - { agent: a, answer: { text: done, delay: 100ms } }
`;

function progress(stderr: string): readonly string[] {
  return stderr.split('\n').flatMap((line) => /^step (\w+) (started|succeeded)/.exec(line)?.[0].slice(5) ?? []);
}

describe('settings of a workflow and flags of a run', () => {
  test('decision 2: --concurrency bounds how many steps run at once', async () => {
    const cwd = await makeProject({ 'flow.yaml': WIDE, 'answers.yaml': PATIENT });
    const args = ['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'];
    const free = await served(args, { cwd });
    expect(progress(free.stderr).slice(0, 3)).toEqual(['one started', 'two started', 'three started']);
    const bound = await served([...args, '--concurrency', '1'], { cwd });
    expect(progress(bound.stderr)).toEqual([
      'one started',
      'one succeeded',
      'two started',
      'two succeeded',
      'three started',
      'three succeeded',
    ]);
  });

  test.each([
    ['debug', [], 'verbose'],
    ['info', [], 'normal'],
    ['error', [], 'quiet'],
    ['error', ['--verbose'], 'verbose'],
    ['debug', ['--quiet'], 'quiet'],
  ])('log_level %s with the flags %j is %s', async (level, flags, loudness) => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('agents:', `config: { log_level: ${level} }\nagents:`),
    });
    const { stderr } = await served(['run', 'flow.yaml', '--mock', '--no-audit', ...flags], { cwd });
    const found = stderr === '' ? 'quiet' : stderr.includes('[facts] turn 1') ? 'verbose' : 'normal';
    expect(found).toBe(loudness);
  });

  test('statement 66: --interactive lets agents ask whose file does not say', async () => {
    const answers = `strict: false
rules:
  - { step: facts, answers: [{ question: Which kind? }, { text: done }] }
  - { step: text, answer: done }
`;
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': answers });
    const args = ['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit', '--json'];
    expect(documentOf(await served([...args, '--interactive'], { cwd }))).toMatchObject({ outcome: 'paused' });
    const silent = await served(args, { cwd });
    expect(documentOf(silent)).not.toMatchObject({ outcome: 'paused' });
  });

  test('shared memory goes through a run and into its folder', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace(
        'agents:',
        'config: { shared_memory: { enabled: true, inject_into_prompt: true, initial_content: Looms are old. } }\nagents:',
      ),
      'answers.yaml': `rules:
  - step: facts
    answers:
      - tools: [{ name: shared_memory_write, input: { content: They weave., mode: append } }]
      - done
  - { step: text, prompt: They weave., answer: read it }
`,
    });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml'], { cwd });
    expect(end.code).toBe(0);
    const folder = await runFolder(cwd);
    expect(folder.get('memory.md')).toContain('They weave.');
    expect(folder.get('steps/01_text/prompt.md')).toContain('Looms are old.');
  });

  test.each([
    ['an input opens nothing', '', 'error'],
    ['extra_dirs does', ', extra_dirs: [OUTSIDE]', 'ok'],
  ])('statement 65, decision 14: a directory outside of the working directory: %s', async (_, keys, status) => {
    const outside = await makeProject({ 'notes.txt': 'the canary is yellow' });
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('tools: []', 'tools: [read_file]').replace(
        'id: facts, agent: writer',
        `id: facts, agent: writer${keys.replace('OUTSIDE', outside)}`,
      ),
      'answers.yaml': `rules:
  - step: facts
    answers:
      - tools: [{ name: read_file, input: { path: ${outside}/notes.txt } }]
      - done
  - { step: text, answer: done }
`,
    });
    const args = ['run', 'flow.yaml', '--mock=answers.yaml', '--stream', '-i', `topic=${outside}`];
    expect((await served(args, { cwd })).code).toBe(0);
    const stream = (await runFolder(cwd)).get('steps/00_facts/stream.jsonl') ?? '';
    expect(stream.includes('the canary is yellow')).toBe(status === 'ok');
    expect(stream).toContain(`"status":"${status === 'ok' ? 'completed' : 'failed'}"`);
  });

  test('audit_retention keeps the last run folders, and what is not a run folder', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('agents:', 'config: { audit_retention: 1 }\nagents:'),
      '.workflow-runs/zz_keep/mine.txt': 'mine',
    });
    for (const _ of [1, 2, 3]) expect((await served(['run', 'flow.yaml', '--mock'], { cwd })).code).toBe(0);
    const left = await readdir(join(cwd, '.workflow-runs'));
    expect(left.filter((name) => name.endsWith('zz_keep'))).toEqual(['zz_keep']);
    expect(left.filter((name) => name.includes('_chain_'))).toHaveLength(1);
    expect((await stat(join(cwd, '.workflow-runs/zz_keep/mine.txt'))).isFile()).toBe(true);
  });

  test('a run folder that can no longer be written is one warning, and the results are there all the same', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('tools: []', 'tools: [shell]'),
      'answers.yaml': `rules:
  - step: facts
    answers:
      - tools: [{ name: shell, input: { argv: [sh, -c, 'f=.workflow; rm -rf "$f"-runs; touch "$f"-runs'] } }]
      - done
  - { step: text, answer: Looms weave. }
`,
    });
    const end = await served(['run', 'flow.yaml', '--model', 'script/answers.yaml'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Looms weave.');
    expect(end.stderr.match(/warning/g)).toHaveLength(1);
    expect(end.stderr).toContain('warning: the audit folder is incomplete: ');
  });

  test('statement 32: a step that is retried says so, with its number of attempts', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, retry_count: 1,'),
      'answers.yaml': `rules:
  - step: facts
    once: true
    answers: [{ error: { code: SKEIN_TIMEOUT, message: too slow } }, They weave.]
  - { step: text, answer: Looms weave. }
`,
    });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('step facts tries again in 500ms: ');
    expect(end.stderr).toMatch(/step facts succeeded in .* after 2 attempts/);
  });
});
