import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, MAIN, documentOf, filesIn, makeProject, runFolder, start, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const SCRIPT = `rules:
  - step: facts
    answer: They weave.
  - step: text
    answer: Looms weave.
`;

const FAILING = `rules:
  - step: facts
    answer: { error: { code: SKEIN_MODEL_REFUSED, message: the provider said no } }
  - { step: text, answer: Looms weave., optional: true }
`;

const hasFull = existsSync('/dev/full');
if (!hasFull) console.info('note: there is no /dev/full here, so a test of full disks is skipped');

describe('results and progress', () => {
  test('results go to stdout and everything else to stderr, without colours', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toBe('# Workflow Results\n\n## Step: facts\n\nThey weave.\n\n## Step: text\n\nLooms weave.\n');
    expect(end.stderr).toContain('step facts started\n');
    expect(end.stderr).toMatch(/step text succeeded in \d/);
    expect(end.stderr).toContain('chain succeeded in ');
    expect(end.stderr).toContain(': 2 succeeded\n');
    expect(end.stderr).not.toContain('\u001b');
  });

  test('statement 73: the order of the results is the order of declaration, on stdout and in the run folder', async () => {
    const cwd = await makeProject({
      'flow.yaml': `name: two
agents: { a: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: zebra, agent: a, prompt: first }
  - { id: ape, agent: a, prompt: second }
`,
    });
    const end = await served(['run', 'flow.yaml', '--mock', '--format', 'plain'], { cwd });
    expect(end.stdout).toBe('=== zebra ===\nfirst\n\n=== ape ===\nsecond\n');
    const whole = (await runFolder(cwd)).get('final_output.md') ?? '';
    expect(whole.indexOf('zebra')).toBeLessThan(whole.indexOf('ape'));
    expect(whole).toContain('ape');
  });

  test('statement 72: json is a form of the results, too', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--format=json'], { cwd });
    expect(JSON.parse(end.stdout)).toEqual({
      steps: {
        facts: { status: 'completed', output: 'They weave.' },
        text: { status: 'completed', output: 'Looms weave.' },
      },
    });
  });

  test('statement 72: names of forms may be written in any case', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit', '--format', 'Text'], { cwd });
    expect(end.stdout).toMatch(/^=== facts ===\n/);
  });

  test('statement 74: a failed step is in the results as failed, with the reason', async () => {
    const cwd = await makeProject({
      'flow.yaml': `${CHAIN}output: { steps: [text, facts], format: json }\n`,
      'answers.yaml': FAILING,
    });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    const { steps } = JSON.parse(end.stdout) as { readonly steps: Record<string, object> };
    expect(Object.keys(steps)).toEqual(['text', 'facts']);
    expect(steps).toMatchObject({
      text: { status: 'not_run' },
      facts: { status: 'failed', error: expect.stringContaining('the provider said no') as string },
    });
  });

  test('statement 87: --mock says on stderr that no model is asked', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const loud = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(loud.stderr).toContain('--mock: no model is asked');
    const quiet = await served(['run', 'flow.yaml', '--mock', '--quiet'], { cwd });
    expect(quiet.stderr).toBe('');
  });

  test.each([
    [[], false],
    [['--stream'], true],
    [['--streaming'], true],
    [['-stream'], true],
    [['--verbose'], true],
  ])('statement 71, decision 1: with the flags %j the stream of a step is recorded: %s', async (flags, recorded) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock', ...flags], { cwd });
    expect((await runFolder(cwd)).has('steps/00_facts/stream.jsonl')).toBe(recorded);
  });

  test('--json prints one document about the whole run', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--json', '--quiet'], { cwd });
    expect(end.stderr).toBe('');
    const report = documentOf(end);
    expect(report).toMatchObject({
      workflow: 'chain',
      outcome: 'succeeded',
      exitCode: 0,
      census: { succeeded: 2, failed: 0, notRun: 0 },
      steps: { text: { status: 'succeeded', output: 'Looms weave.', attempts: 1, modelCalls: 1 } },
      modelCalls: 2,
      models: [{ model: 'script/answers.yaml', calls: 2 }],
    });
    expect(String(report['auditFolder'])).toContain(join(cwd, '.workflow-runs'));
    expect(end.stdout.endsWith('}\n')).toBe(true);
  });

  test('statement 70: --verbose tells turns and tool calls, --stream the text as it comes', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--verbose', '--stream'], { cwd });
    expect(end.stderr).toContain('[facts] turn 1 of script/answers.yaml started\n');
    expect(end.stderr).toContain('facts │ They weave.\n');
    expect(end.stdout).not.toContain('│');
  });

  test.skipIf(!hasFull)('results that could not be written are no success', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const command = `exec "${process.execPath}" "${MAIN}" run flow.yaml --mock --no-audit > /dev/full`;
    const end = await start(['sh', '-c', command], { cwd, input: '' }).ended;
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('error: the results could not be written to stdout: ENOSPC');
  });

  test('a reader of stdout that goes away is no crash', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const big = join(cwd, 'big.txt');
    await writeFile(big, 'x'.repeat(500_000));
    const running = startSkein(['run', 'flow.yaml', '--mock', '--input-file', `topic=${big}`], { cwd, input: '' });
    running.child.stdout?.destroy();
    const end = await running.ended;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.stderr).toContain('chain succeeded');
    expect(end.stderr).not.toMatch(/EPIPE|unexpected/);
  });
});

describe('exit codes', () => {
  test('statement 95, exit 3: a step failed; the error, its hint and what to do next are on stderr', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': FAILING });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('chain failed in ');
    expect(end.stderr).toContain('1 failed, 1 not run');
    expect(end.stderr).toContain(
      'error SKEIN_MODEL_REFUSED in step facts (agent writer): script/answers.yaml: the provider said no',
    );
    expect(end.stderr).toContain('next: ');
    // Statement 94: the record is complete although the run stopped.
    const folder = await runFolder(cwd);
    expect(JSON.parse(folder.get('workflow.meta.json') ?? '')).toMatchObject({ status: 'failed' });
    expect([...folder.keys()]).toContain('steps/00_facts/prompt.md');
  });

  test('0 when degraded as the workflow allows it, 4 under --strict', async () => {
    const allowed = CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, on_error: continue,');
    const cwd = await makeProject({ 'flow.yaml': allowed, 'answers.yaml': FAILING });
    const args = ['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'];
    const easy = await served(args, { cwd });
    expect(easy.code).toBe(0);
    expect(easy.stderr).toContain('chain finished degraded');
    const strict = await served([...args, '--strict', '--json'], { cwd });
    expect(strict.code).toBe(4);
    expect(documentOf(strict)).toMatchObject({
      outcome: 'degraded',
      exitCode: 4,
      steps: { facts: { status: 'failed' } },
    });
  });

  test('5: a question that nobody can answer pauses the run, and is printed with its choices', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, interactive: true,'),
      'answers.yaml': `rules:
  - step: facts
    answers: [{ question: { text: Which kind?, choices: [hand, power] } }, { text: never said }]
strict: false
`,
    });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toMatch(
      /question of facts: Which kind\?\n {2}1\. hand\n {2}2\. power\n {2}skein answer (\w+) facts VALUE\nnext: .*\n {2}skein resume \1\n/,
    );
    const apart = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-store'], { cwd });
    expect(apart.code).toBe(5);
    expect(apart.stderr).toContain('question of facts: Which kind?\n  1. hand\n  2. power\nnext: run it on a terminal');
    const json = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--json', '--no-audit'], { cwd });
    expect(documentOf(json)).toMatchObject({
      outcome: 'paused',
      exitCode: 5,
      questions: [{ path: 'facts', question: 'Which kind?', choices: ['hand', 'power'] }],
      steps: { facts: { status: 'paused' } },
    });
  });
});

describe('flags', () => {
  test('statements 42, 43, 85: inputs in every form; the first = splits, the last value wins', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('{{inputs.topic}}', '{{inputs.topic}}/{{inputs.extra}}/{{inputs.piped}}'),
      'extra.txt': 'from a file',
    });
    const words = ['-workflow=flow.yaml', '--mock', '--inputs', 'topic=one', '-inputs', 'topic=a=b'];
    const files = ['--input-file', 'extra=extra.txt', '--input-file', 'piped=-'];
    const end = await served(['run', ...words, ...files, '--json', '--no-audit', '-q'], { cwd, input: 'from a pipe' });
    expect(end.stderr).toBe('');
    expect(documentOf(end).steps['facts']?.output).toBe('Facts about a=b/from a file/from a pipe');
  });

  test('--mock never takes the next word for its file', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(['run', '--mock', 'flow.yaml', '--no-audit', '-q', '--format=plain'], { cwd });
    expect(end.stdout).toContain('=== facts ===\nFacts about looms\n');
  });

  test('statement 92: --model wins over the workflow, the agent and the step', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('id: facts,', 'id: facts, model: openai/gpt-5,').replace(
        'steps:',
        'config: { model: openai/gpt-5 }\nsteps:',
      ),
    });
    const end = await served(['run', 'flow.yaml', '--model', 'mock/echo', '--json', '--no-audit'], { cwd });
    expect(documentOf(end)).toMatchObject({ outcome: 'succeeded', models: [{ model: 'mock/echo', calls: 2 }] });
  });

  test('a recorded run is replayed call for call; a changed prompt is a miss', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    const recorded = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--record', 'calls.jsonl'], { cwd });
    const replayed = await served(['run', 'flow.yaml', '--replay', 'calls.jsonl', '--no-audit'], { cwd });
    expect(replayed.code).toBe(0);
    expect(replayed.stdout).toBe(recorded.stdout);
    const other = await served(['run', 'flow.yaml', '--replay', 'calls.jsonl', '--no-audit', '-i', 'topic=nets'], {
      cwd,
    });
    expect(other.code).toBe(3);
    expect(other.stderr).toContain('SKEIN_REPLAY_MISS');
  });

  test('--audit-dir moves the run folder, --no-audit makes none, --no-store keeps no record', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    expect((await served(['run', 'flow.yaml', '--mock', '--no-audit', '--no-store'], { cwd })).code).toBe(0);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
    expect((await served(['run', 'flow.yaml', '--mock', '--audit-dir', 'kept/runs'], { cwd })).code).toBe(0);
    const files = await filesIn(join(cwd, 'kept/runs'));
    const meta = files.find((file) => file.endsWith('workflow.meta.json')) ?? '';
    expect(JSON.parse(await readFile(join(cwd, 'kept/runs', meta), 'utf8'))).toMatchObject({ status: 'completed' });
  });

  test('--dry-run shows the plan and runs nothing', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(['run', 'flow.yaml', '--dry-run'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Text from {{steps.facts.output}}');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('control characters of a model do not reach the progress lines', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN,
      'answers.yaml': 'rules:\n  - { step: facts, answer: "a\\e[2Jb\\u202e" }\n  - { step: text, answer: ok }\n',
    });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--stream', '--no-audit'], { cwd });
    expect(end.stderr).toContain('facts │ a\\x1b[2Jb\\u202e\n');
    // A file or a pipe gets the text as it is.
    expect(end.stdout).toContain('a\u001b[2Jb\u202e');
  });
});
