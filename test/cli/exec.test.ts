import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOOP, LOOP_SAYS, NOTES, NOTES_SCRIPT, PARALLEL, loopScript } from './support/pipelines.js';
import type { Ended } from './support/skein.js';
import { CHAIN, documentOf, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const ONE = `agents: { root: { instruction: You repeat. } }\n`;

/** What stands under the heading, up to the end of the JSON. */
function contextOf({ stderr }: Ended): unknown {
  const [, text = ''] = /(?:^|\n)--- Step Context ---\n(\{\n[^]*?\n\})\n/.exec(stderr) ?? [];
  return JSON.parse(text);
}

describe('the prompt', () => {
  const exec = async (words: readonly string[], input = '', files = { 'one.yaml': ONE }): Promise<Ended> => {
    const cwd = await makeProject(files);
    return await served(['exec', 'one.yaml', '--mock', '--no-audit', ...words], { cwd, input });
  };

  test('is an argument, or stdin without the line break at its end, or a plea', async () => {
    expect(await exec(['Translate this.'])).toMatchObject({ code: 0, stdout: 'Translate this.\n' });
    expect(await exec(['-'], 'From stdin,\ntwo lines.\n')).toMatchObject({
      code: 0,
      stdout: 'From stdin,\ntwo lines.\n',
    });
    expect(await exec([])).toMatchObject({ code: 0, stdout: 'Please proceed.\n' });
    expect(await exec(['--input', 'prompt=As an input.'])).toMatchObject({ code: 0, stdout: 'As an input.\n' });
    expect(await exec(['--', '--looks-like-a-flag'])).toMatchObject({ code: 0, stdout: '--looks-like-a-flag\n' });
  });

  test.each([
    ['an empty argument', [''], ''],
    ['an argument of blanks', ['  \n'], ''],
    ['an empty stdin', ['-'], ''],
    ['an empty line', ['-'], '\n'],
  ])('%s is refused', async (_, words, input) => {
    const end = await exec(words, input);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain(
      'error SKEIN_INPUT: the prompt is empty\n    hint: leave it out to begin with "Please proceed."',
    );
  });

  test('bytes that are no text are refused', async () => {
    const cwd = await makeProject({ 'one.yaml': ONE });
    const end = await served(['exec', 'one.yaml', '-', '--mock'], { cwd, input: Buffer.from([0xff, 0xfe, 0x00]) });
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain("input 'prompt': - is not UTF-8 text");
    expect(await filesIn(cwd)).toEqual(['one.yaml']);
  });

  test('given twice, or as several words, is wrong usage', async () => {
    const twice = await exec(['One.', '--input', 'prompt=Two.']);
    expect(twice).toMatchObject({ code: 1, stdout: '' });
    expect(twice.stderr).toContain('the prompt is given twice');
    const words = await exec(['several', 'words']);
    expect(words).toMatchObject({ code: 1, stdout: '' });
    expect(words.stderr).toContain('too many arguments: words\n    hint: put quotes around a prompt of several words');
  });

  test('that no step reads is told', async () => {
    const deaf = `agents: { a: { instruction: x } }
workflow: [{ id: one, type: agent, name: a, prompt: Always this. }]
`;
    const end = await exec(['Hear me.'], '', { 'one.yaml': deaf });
    expect(end).toMatchObject({ code: 0, stdout: 'Always this.\n' });
    expect(end.stderr).toContain('warning: no step reads the prompt');
    expect((await exec([], '', { 'one.yaml': deaf })).stderr).not.toContain('warning');
  });

  test('a workflow with other inputs takes those, and refuses a prompt', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await served(['exec', 'flow.yaml', '--input', 'topic=nets', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toBe(
      '--- Agent: writer (facts) ---\n\nFacts about nets\n\n--- Agent: writer (text) ---\n\nText from Facts about nets\n',
    );
    const refused = await served(['exec', 'flow.yaml', 'About nets', '--mock', '--no-audit'], { cwd });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(
      'no text refers to the input "prompt", and it is not declared\n    hint: declare it under inputs, refer to it, or leave it out (inputs are: topic)',
    );
  });
});

describe('what exec prints', () => {
  test('under --mock for an answer that must be JSON is that a script can give it', async () => {
    const agent = 'agents: { root: { instruction: x, structured_output: { schema: { type: object } } } }\n';
    const cwd = await makeProject({ 'one.yaml': agent });
    const end = await served(['exec', 'one.yaml', 'Go on.', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('write the answers into a script, --mock=FILE');
  });

  test('under --mock is the prompt of each step, without the outputs above it, which would double with each step', async () => {
    const steps = Array.from({ length: 40 }, () => '  - { type: agent, name: root }\n').join('');
    const cwd = await makeProject({ 'long.yaml': `${ONE}workflow:\n${steps}` });
    const end = await served(['exec', 'long.yaml', 'Go on.', '--mock', '--json', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    const outputs = Object.values(documentOf(end).steps).map(({ output }) => output);
    expect(outputs).toEqual(Array.from({ length: 40 }, () => 'Go on.'));
  });

  test('stdout: what the agents say, a step at a time; stderr: everything else, with the context of the steps', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    const end = await served(['exec', 'flow.yaml', 'Write.', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: LOOP_SAYS });
    expect(contextOf(end)).toEqual({
      steps: {
        draft: { output: 'Third draft.', agent: 'writer' },
        review: { output: { ok: true }, agent: 'critic' },
        publish: { output: 'Printed.', agent: 'publisher' },
      },
      order: ['draft', 'review', 'publish'],
    });
    expect(end.stderr).toContain('\nstep good: false -> goto draft\n');
    expect(end.stderr).toContain('\nstep good#3: true -> publish\n');
    expect(end.stderr).toMatch(/\nflow succeeded in /);
  });

  test('steps of parallel blocks are told whole, and stand in blocks of the context, in declared order', async () => {
    const answers = `rules:
  - { step: par_gen/gen_1, answer: { text: "First,\\nwhich takes longer.", delay: 50ms } }
  - { step: par_gen/inner/gen_2, answer: "Second." }
  - { step: last, answer: "The second one." }
`;
    const cwd = await makeProject({ 'flow.yaml': PARALLEL, 'answers.yaml': answers });
    const end = await served(['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    const said = end.stdout.split(/^--- Agent: /m).slice(1);
    expect(said.toSorted()).toEqual([
      expect.stringMatching(/^generator \(par_gen\/gen_1\) ---\n\nFirst,\nwhich takes longer\.\n\n$/),
      expect.stringMatching(/^generator \(par_gen\/inner\/gen_2\) ---\n\nSecond\.\n\n$/),
      'judge (last) ---\n\nThe second one.\n',
    ]);
    const inner = { steps: { gen_2: { output: 'Second.', agent: 'generator' } }, order: ['gen_2'] };
    expect(contextOf(end)).toEqual({
      steps: {
        par_gen: {
          steps: { gen_1: { output: 'First,\nwhich takes longer.', agent: 'generator' }, inner },
          order: ['gen_1', 'inner'],
        },
        last: { output: 'The second one.', agent: 'judge' },
      },
      order: ['par_gen', 'last'],
    });
  });

  test('--json: one document with the context, and nothing else on stdout', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    const end = await served(['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit', '--json'], { cwd });
    expect(end.code).toBe(0);
    const document = documentOf(end);
    expect(document['usage']).toHaveProperty('inputTokens');
    expect(document).toMatchObject({
      outcome: 'succeeded',
      exitCode: 0,
      context: { steps: { draft: { output: 'Third draft.', agent: 'writer' } }, order: ['draft', 'review', 'publish'] },
      steps: { 'draft#2': { output: 'Second draft.' } },
    });
    expect(end.stderr).not.toContain('--- Step Context ---');
  });

  test('--quiet leaves the outputs; --format gives the results as skein run does', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    const words = ['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'];
    expect(await served([...words, '--quiet'], { cwd })).toMatchObject({ code: 0, stdout: LOOP_SAYS, stderr: '' });
    const end = await served([...words, '--format', 'plain'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: '=== publish ===\nPrinted.\n' });
  });

  test('[addition 3] a file with output.values: these alone as JSON on stdout, also where they come from agents', async () => {
    const text = `${ONE}workflow: [{ id: say, type: agent, name: root }]\noutput: { values: { said: '{{ $steps.say.output }}' } }\n`;
    const cwd = await makeProject({ 'one.yaml': text });
    const end = await served(['exec', 'one.yaml', 'Hello.', '--mock', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(JSON.parse(end.stdout)).toEqual({ said: expect.stringContaining('Hello.') as string });
    expect(contextOf(end)).toMatchObject({ order: ['say'] });
    expect(end.stderr.split('--- Step Context ---')[0]).toContain('Hello.');
    const quiet = await served(['exec', 'one.yaml', 'Hello.', '--mock', '--no-audit', '--quiet'], { cwd });
    expect(quiet).toMatchObject({ code: 0, stdout: end.stdout, stderr: '' });
  });

  test('after a failure: what was said before it, the context so far, then the error', async () => {
    const flow = LOOP.replace('max_loop_iterations: 5', 'max_loop_iterations: 1');
    const cwd = await makeProject({ 'flow.yaml': flow, 'answers.yaml': loopScript() });
    const end = await served(['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(3);
    expect(end.stdout).toBe(LOOP_SAYS.slice(0, LOOP_SAYS.indexOf('\n--- Agent: writer (draft#3)')));
    expect(contextOf(end)).toMatchObject({ order: ['draft', 'review'] });
    expect(end.stderr).toMatch(
      /--- Step Context ---[^]*\nerror SKEIN_MAX_VISITS .*workflow: max loop iterations exceeded \(step: draft, limit: 1\)\n/,
    );
  });

  test('an agent that says nothing has no heading and no place in the context', async () => {
    const answers = loopScript().replace('{"text":"Printed."}', '{"empty":true}');
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': answers });
    const end = await served(['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toBe(LOOP_SAYS.slice(0, LOOP_SAYS.indexOf('\n--- Agent: publisher')));
  });
});

describe('tool calls that a person must allow', () => {
  const words = ['exec', 'agent.yaml', 'Take a note.', '--mock=answers.yaml', '--no-audit'];
  const project = (): Promise<string> => makeProject({ 'agent.yaml': NOTES, 'answers.yaml': NOTES_SCRIPT });

  test('pause the run without a terminal; it goes on with an answer, and says the rest', async () => {
    const cwd = await project();
    const end = await served(words, { cwd });
    expect(end).toMatchObject({ code: 5, stdout: '' });
    expect(end.stderr).toContain('] calls write_file {"path":"note.txt","content":"hello"}');
    expect(contextOf(end)).toEqual({ steps: {}, order: [] });
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false);
    const [, run = '', key = ''] = /\n {2}skein answer (\S+) (\S+) VALUE\n/.exec(end.stderr) ?? [];
    expect((await served(['answer', run, key, 'allow'], { cwd })).code).toBe(0);
    expect(await served(['resume', run], { cwd })).toMatchObject({ code: 0, stdout: 'Written.\n' });
    expect(readFileSync(join(cwd, 'note.txt'), 'utf8')).toBe('hello');
  });

  test.each(['--yes', '--yolo', '-y'])('%s allows them', async (flag) => {
    const cwd = await project();
    expect(await served([...words, flag], { cwd })).toMatchObject({ code: 0, stdout: 'Written.\n' });
    expect(existsSync(join(cwd, 'note.txt'))).toBe(true);
  });

  test('--yes answers nothing else, and is not kept with the run: a resume needs it again', async () => {
    const flow = `${NOTES}workflow:
  - { id: one, type: agent, name: root }
  - { id: sure, type: ask, question: May the agent "root" call write_file?, choices: [allow, deny] }
  - { id: two, type: agent, name: root }
`;
    const cwd = await makeProject({ 'agent.yaml': flow, 'answers.yaml': NOTES_SCRIPT });
    const first = await served([...words, '--yes'], { cwd });
    expect(first).toMatchObject({ code: 5, stdout: '--- Agent: root (one) ---\n\nWritten.\n' });
    expect(first.stderr).toContain('question of sure: May the agent "root" call write_file?');
    expect((await served(['answer', '-1', 'allow'], { cwd })).code).toBe(0);
    const second = await served(['resume', '-1'], { cwd });
    expect(second.code).toBe(5);
    expect(second.stderr).toContain('question of two: May the agent "root" call write_file?');
    const end = await served(['resume', '-1', '--yes'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toBe('--- Agent: root (one) ---\n\nWritten.\n\n--- Agent: root (two) ---\n\nWritten.\n');
  });

  test('--yes is never over a refusal of the file', async () => {
    const denied = `permissions: { deny: [write_file] }\n${NOTES}`;
    const cwd = await makeProject({ 'agent.yaml': denied, 'answers.yaml': NOTES_SCRIPT });
    expect(await served([...words, '--yes'], { cwd })).toMatchObject({ code: 0, stdout: 'Written.\n' });
    expect(existsSync(join(cwd, 'note.txt'))).toBe(false);
  });
});
