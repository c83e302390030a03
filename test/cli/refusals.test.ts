import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, MAIN, filesIn, makeProject, start } from './support/skein.js';
import { served } from './support/served.js';

const BROKEN = `name: broken
agents:
  writer: { inline: { promt: You write. } }
steps:
  - { id: one, agent: writer, prompt: "{{inputs.nothing}}", depends_on: [two] }
  - { id: two, agent: nobody, prompt: "{{steps.three.output}}", depends_on: [one] }
`;

describe('wrong usage: exit 1', () => {
  test('statement 84: without a word the usage is shown on stderr', async () => {
    const end = await served([], { cwd: await makeProject() });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain('Usage: skein');
  });

  test('statement 84: help goes to stdout and is a success', async () => {
    const cwd = await makeProject();
    for (const words of [['help'], ['--help'], ['-h'], ['help', '--help']]) {
      const end = await served(words, { cwd });
      expect(end).toMatchObject({ code: 0, stderr: '' });
      expect(end.stdout).toContain('validate');
    }
    const end = await served(['help', 'run'], { cwd });
    expect(end.stdout).toContain('--input-file <name=file>');
    expect(end.stdout).toContain('Exit codes: 0 succeeded');
  });

  test.each([
    [['rum', 'flow.yaml'], 'there is no command "rum"', 'did you mean skein run?'],
    [['help', 'rum'], 'there is no command "rum"', 'did you mean skein run?'],
    [['chat'], 'there is no command "chat"', 'skein run PACK talks with a pack'],
    [['run', 'flow.yaml', '--strem'], "unknown option '--strem'", 'hint: did you mean --stream?'],
    [['run', 'flow.yaml', '--timeout=60', '-y'], "unknown option '--timeout=60'", 'hint: --budget 10m limits'],
    [['run', 'flow.yaml', '--set', 'topic=x'], "unknown option '--set'", 'hint: --input NAME=VALUE gives'],
    [['fork', '-1', '--input', 'topic=x'], "unknown option '--input'", 'hint: --set NAME=VALUE changes'],
    [['run', 'flow.yaml', '--store', 'x.db'], "unknown option '--store'", '--no-store keeps no record\n'],
    [['show', '-1', '--store', 'x.db'], "unknown option '--store'", 'hint: the store is .skein/skein.db'],
    [['show', '-1', '--timeout', '5'], "unknown option '--timeout'", 'hint: skein help show shows what it takes'],
    [['graph', 'flow.yaml', '-o', 'x.svg'], "unknown option '-o'", 'hint: results go to stdout: add > FILE'],
    [['new', '-o', 'x'], "unknown option '-o'", 'hint: the folder has no flag: skein new DIR'],
    [['validate', 'flow.yaml', '--jsn'], "unknown option '--jsn'", 'hint: did you mean --json?'],
    [['run', 'flow.yaml', 'other.yaml'], 'too many arguments', 'skein help'],
    [['run', 'flow.yaml', '--mock', 'script.yaml'], 'too many arguments', '--mock=script.yaml'],
    [['run'], 'no workflow file is given', 'skein run FILE'],
    [['run', 'flow.yaml', '-w', 'other.yaml'], 'two workflow files', 'keep one'],
    [['run', 'flow.yaml', '--concurrency', '0'], 'whole number', 'hint: skein help run shows what it takes'],
    [['runs', 'prune', '--fo'], "unknown option '--fo'", 'hint: skein help runs prune shows what it takes'],
    [['--fo'], "unknown option '--fo'", 'hint: skein help lists the commands'],
    [['run', 'flow.yaml', '--format', 'xml'], 'Allowed choices are markdown, plain, json', 'xml'],
    [['run', 'flow.yaml', '--mock', '--replay', 'x'], 'cannot be used with', '--replay'],
    // Statement 86.
    [['run', 'flow.yaml', '--input', 'foo'], '--input takes NAME=VALUE, not "foo"', '--input topic='],
    [['run', 'flow.yaml', '--input', '=foo'], 'not "=foo"', '--input topic='],
    [['run', 'flow.yaml', '--input-file', 'a=-', '--input-file', 'b=-'], 'stdin can be only one input', 'keep one'],
    [['new', 'a name'], "can't be the name of a workflow", 'use letters'],
    [['new', 'x', '--template', 'chian'], 'Allowed choices are chain', 'chian'],
  ])('%j is refused with what to do', async (words, message, hint) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(words, { cwd });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toContain(message);
    expect(end.stderr).toContain(hint);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('--json gives what is wrong and what to do apart', async () => {
    const { code, stdout, stderr } = await served(['run', 'flow.yaml', '--json', '--mesage', 'x'], {
      cwd: await makeProject(),
    });
    expect(code).toBe(1);
    expect(stderr).toBe("error SKEIN_USAGE: unknown option '--mesage'\n    hint: did you mean --message?\n");
    expect((JSON.parse(stdout) as { readonly error: unknown }).error).toEqual({
      code: 'SKEIN_USAGE',
      message: "unknown option '--mesage'",
      hint: 'did you mean --message?',
    });
  });
});

describe('invalid definition or input: exit 2, nothing written', () => {
  test('all problems of a file at once, each with its place and a hint', async () => {
    const cwd = await makeProject({ 'flow.yaml': BROKEN });
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(/^flow\.yaml:3:23: error unknown-key: .*promt/m);
    expect(end.stderr).toMatch(/^ {4}hint: did you mean "prompt"\?/m);
    expect(end.stderr).toMatch(/^flow\.yaml:6:\d+: error .*nobody/m);
    expect(end.stderr).toMatch(/^flow\.yaml:6:\d+: error .*three/m);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('--json gives the problems as a document, for run and for validate', async () => {
    const cwd = await makeProject({ 'flow.yaml': BROKEN });
    const run = await served(['run', 'flow.yaml', '--mock', '--json'], { cwd });
    const { outcome, exitCode, problems } = JSON.parse(run.stdout) as Record<string, unknown>;
    expect({ outcome, exitCode, code: run.code }).toEqual({ outcome: 'invalid', exitCode: 2, code: 2 });
    const validate = await served(['validate', 'flow.yaml', '--json'], { cwd });
    expect(validate.code).toBe(2);
    expect(JSON.parse(validate.stdout)).toEqual({
      valid: false,
      files: [{ file: 'flow.yaml', valid: false, problems }],
    });
    expect(problems).toContainEqual(
      expect.objectContaining({ code: 'unknown-key', at: { file: 'flow.yaml', line: 3, column: 23 } }),
    );
  });

  test('statement 93: every required input that is missing, where it is declared', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('default: looms }', '}\n  kind: {}').replace(
        '{{inputs.topic}}',
        '{{inputs.topic}} {{inputs.kind}}',
      ),
    });
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(
      /^flow\.yaml:3:\d+: error missing-input: the input "topic" is not given \(what it is about\)/m,
    );
    expect(end.stderr).toMatch(/^flow\.yaml:4:\d+: error missing-input: the input "kind" is not given/m);
    expect(end.stderr).toContain('hint: add --input kind=VALUE');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test("input files that can't be used are listed together", async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await writeFile(join(cwd, 'large.txt'), Buffer.alloc(10 * 1024 * 1024, 'x'));
    await writeFile(join(cwd, 'binary'), Buffer.from([0xff, 0xfe, 0x00]));
    const words = ['a=missing.txt', 'b=large.txt', 'c=binary'].flatMap((word) => ['--input-file', word]);
    const end = await served(['run', 'flow.yaml', '--mock', ...words], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain("input 'a': missing.txt can't be read (ENOENT)");
    expect(end.stderr).toContain("input 'b': large.txt is larger than 8 MiB");
    expect(end.stderr).toContain("input 'c': binary is not UTF-8 text");
    expect(end.stderr).toContain('hint: ');
    const piped = await served(['run', 'flow.yaml', '--mock', '--input-file', 'topic=-'], {
      cwd,
      input: Buffer.alloc(10_000_000, 'x'),
    });
    expect(piped.code).toBe(2);
    expect(piped.stderr).toContain('- is larger than 8 MiB');
    expect(await filesIn(cwd)).toEqual(['binary', 'flow.yaml', 'large.txt']);
  });

  test('no model anywhere: the way out is offered, and no step starts', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(['run', 'flow.yaml'], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain('SKEIN_NO_MODEL');
    expect(end.stderr).toContain('--mock');
    expect(end.stderr).not.toContain('started');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('no model in a called file: the hint names its own key, as the model of the caller does not count there', async () => {
    const caller = CHAIN.replace('steps:\n', 'steps:\n  - { id: called, type: call, file: inner.yaml }\n');
    const inner = CHAIN.replace(', default: looms', ', default: wool');
    const cwd = await makeProject({
      'flow.yaml': `config: { model: openai/gpt-5-mini }\n${caller}`,
      'inner.yaml': inner,
    });
    const end = await served(['run', 'flow.yaml', '--trust'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(
      /inner\.yaml:\d+:\d+: error SKEIN_NO_MODEL: .*\n +hint: name one in config\.model of inner\.yaml, or /,
    );
    expect(end.stderr).toContain('--model');
  });

  test('statement 62: a model without its key, and one that nobody knows, are found before the first step', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN.replace('id: facts,', 'id: facts, model: openai/gpt-5,').replace(
        'id: text,',
        'id: text, model: opnai/gpt-5,',
      ),
    });
    const end = await served(['run', 'flow.yaml', '--json'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/^flow\.yaml:7:\d+: error SKEIN_NO_KEY: .*OPENAI_API_KEY/m);
    expect(end.stderr).toMatch(/^flow\.yaml:8:\d+: error SKEIN_MODEL_UNKNOWN: .*opnai/m);
    expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'invalid', exitCode: 2 });
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test.each([
    ['a script with problems', ['--mock=bad.yaml'], /bad\.yaml:\d+:\d+: error .*ruels/],
    ['a script that is not there', ['--mock=none.yaml'], /SKEIN_FILE: .*none\.yaml/],
    ['a recording that is not there', ['--replay', 'none.jsonl'], /SKEIN_FILE: .*none\.jsonl/],
    ['a recording that would replace a directory', ['--mock', '--record', '.'], /SKEIN_FILE: .* is a directory/],
    [
      'a recording that would replace another file',
      ['--mock', '--record', 'bad.yaml'],
      /SKEIN_FILE: .*not a recording/,
    ],
    ['a recording without a folder to go to', ['--mock', '--record', 'none/x.jsonl'], /SKEIN_FILE: .*none, where/],
    ['a workflow file that is a folder', ['-w', 'agents', '--mock'], /agents:1:1: error /],
    ["a run folder that can't be made", ['--mock', '--audit-dir', 'bad.yaml/runs'], /SKEIN_AUDIT: /],
  ])('%s', async (_, words, message) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'bad.yaml': 'ruels: []\n' });
    await mkdir(join(cwd, 'agents'));
    const file = words[0] === '-w' ? [] : ['flow.yaml'];
    const end = await served(['run', ...file, ...words], { cwd });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(message);
    expect(end.stderr).toContain('hint: ');
    expect(await filesIn(cwd)).toEqual(['agents', 'bad.yaml', 'flow.yaml']);
    expect(await readFile(join(cwd, 'bad.yaml'), 'utf8')).toBe('ruels: []\n');
  });

  test('a working directory that was removed is told as such', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const command = `mkdir gone && cd gone && rmdir ../gone && exec "${process.execPath}" "${MAIN}" run ../flow.yaml --mock`;
    const end = await start(['sh', '-c', command], { cwd, input: '' }).ended;
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toBe(
      'error SKEIN_USAGE: the working directory no longer exists\n    hint: change to a folder that exists\n',
    );
  });

  test('new never overwrites', async () => {
    const cwd = await makeProject({ 'mine/workflow.yaml': 'mine' });
    const end = await served(['new', 'mine'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('mine already exists; nothing was written');
    expect(await filesIn(cwd)).toEqual(['mine', 'mine/workflow.yaml']);
    expect(await readFile(join(cwd, 'mine/workflow.yaml'), 'utf8')).toBe('mine');
  });
});
