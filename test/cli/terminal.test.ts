import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, makeProject } from './support/skein.js';
import { noTerminal, screenOf, startOnTerminal, visible } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`tests of the terminal are skipped: ${missing}`);

const SLOW = `rules:
  - step: facts
    answer: { text: They weave., delay: 400ms, usage: { input: 1200, output: 30 } }
  - { step: text, answer: Looms weave. }
`;

const ASKING = CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, interactive: true,');
const QUESTION = `rules:
  - step: facts
    answers: [{ question: { text: Which kind?, choices: [hand, power] } }, { text: The end. }]
  - { step: text, answer: Looms weave. }
`;

/** Colours begin with this. */
const COLOR = /␛\[[\d;]+m/;

describe.skipIf(missing !== undefined)('on a terminal', () => {
  test('[XU5] steps change in place, nothing of the live view is left, and how each ended is said once', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    const end = await running.ended;
    expect(end.code).toBe(0);
    // Drawn while the step ran: its first frame is due before the answer is.
    expect(end.stdout.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏].*facts.*script\/answers\.yaml/g)?.length ?? 0).toBeGreaterThan(0);
    expect(visible(end.stdout)).toMatch(COLOR);
    const screen = screenOf(end.stdout);
    expect(screen.filter((line) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/.test(line))).toEqual([]);
    expect(screen.filter((line) => /succeeded/.test(line))).toEqual([
      expect.stringMatching(/^ {2}✔ facts {2}succeeded, \d.*1\.2k \+ 30 tokens/),
      expect.stringMatching(/^ {2}✔ text {3}succeeded, \d/),
      expect.stringMatching(/^chain succeeded in /),
    ]);
    expect(screen).toContainEqual(expect.stringMatching(/^chain succeeded in .*: 2 succeeded$/));
    expect(screen.join('\n')).toContain('## Step: text\n\nLooms weave.');
  });

  test('[XU2] results come before the summary, and what to do next is the last line', async () => {
    const failing =
      'rules:\n  - { step: facts, answer: They weave. }\n  - { step: text, answer: { error: { status: 401, message: no } } }\n';
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': failing });
    const { ended } = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit', '--no-color'], { cwd });
    const screen = screenOf((await ended).stdout).filter((line) => line.trim() !== '');
    const place = (text: RegExp): number => screen.findIndex((line) => text.test(line));
    expect(place(/They weave\./)).toBeGreaterThan(0);
    expect(place(/^chain failed/)).toBeGreaterThan(place(/They weave\./));
    expect(place(/^error SKEIN_MODEL_REFUSED/)).toBeGreaterThan(place(/^chain failed/));
    expect(screen.slice(-2).join('\n')).toMatch(/^next: try again what failed, .*\n {2}skein resume \w+$/);
  });

  // NO_COLOR and a dumb terminal: test/cli/live-terminal.test.ts.
  test('--no-color means no colours', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const end = await startOnTerminal(['run', 'flow.yaml', '--mock', '--no-audit', '--no-color'], { cwd }).ended;
    expect(end.code).toBe(0);
    expect(visible(end.stdout)).not.toMatch(COLOR);
    expect(screenOf(end.stdout)).toContainEqual(expect.stringContaining('chain succeeded in'));
  });

  test.each([
    [0, 0],
    [7, 2],
  ])(
    'a terminal of %i columns and %i rows is no reason to fail, and no line of the live view is too long',
    async (columns, rows) => {
      const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
      const size = { cwd, columns, rows };
      const end = await startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit', '--no-color'], size)
        .ended;
      expect(end.code).toBe(0);
      const drawn = end.stdout.match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏][^\r\n]*/g) ?? [];
      expect(Math.max(0, ...drawn.map((line) => line.length))).toBeLessThan(columns === 0 ? 80 : Math.max(columns, 2));
    },
  );

  test('statement 68, decision 11: a typed number picks the choice', async () => {
    const cwd = await makeProject({ 'flow.yaml': ASKING, 'answers.yaml': QUESTION });
    const running = startOnTerminal(
      ['run', 'flow.yaml', '--mock=answers.yaml', '--record', 'calls.jsonl', '--verbose'],
      { cwd },
    );
    await running.seen('(1-2, or your own words) > ');
    running.child.stdin?.write('7\n');
    await running.seen('there is no choice 7');
    running.child.stdin?.write('2\n');
    const end = await running.ended;
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('facts asks: Which kind?\r\n  1. hand\r\n  2. power\r\n');
    expect(await readFile(join(cwd, 'calls.jsonl'), 'utf8')).toContain('power');
  });

  test('statement 68: the end of the input leaves the question open: the run is paused', async () => {
    const cwd = await makeProject({
      'flow.yaml': ASKING,
      'answers.yaml': QUESTION.replace('rules:', 'strict: false\nrules:'),
    });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('or your own words) > ');
    running.child.stdin?.write('\u0004');
    const end = await running.ended;
    expect(end.code).toBe(5);
    expect(end.stdout).toContain('question of facts: Which kind?');
  });

  test('[S10] a supervised step shows what it is at, and the person who judges it answers while it runs', async () => {
    const flow = CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, supervise: { human: true },');
    const script = `rules:
  - { step: facts, phase: post, answers: [{ json: { met_commitment: true }, delay: 400ms }], repeat: true }
  - { step: facts, answers: [They weave., They rhyme.] }
  - { step: text, answer: Looms weave. }
`;
    const cwd = await makeProject({ 'flow.yaml': flow, 'answers.yaml': script });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('output: They weave.');
    running.child.stdin?.write('looks fine\n');
    await running.seen('that is not what was asked for');
    running.child.stdin?.write('revise: make it rhyme\n');
    await running.seen('output: They rhyme.');
    running.child.stdin?.write('approve\n');
    const end = await running.ended;
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('checks what it did');
    expect(end.stdout).toContain("asks: Review this step's output.");
  });

  test('Ctrl-C at a question closes the run as cancelled', async () => {
    const cwd = await makeProject({
      'flow.yaml': ASKING,
      'answers.yaml': QUESTION.replace('rules:', 'strict: false\nrules:'),
    });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('or your own words) > ');
    running.child.stdin?.write('\u0003');
    const end = await running.ended;
    expect(end.code).toBe(130);
    expect(screenOf(end.stdout)).toContainEqual(expect.stringMatching(/^chain was cancelled in /));
  });

  test('statement 25, decision 11: two steps never ask at once', async () => {
    const cwd = await makeProject({
      'flow.yaml': ASKING.replace(
        'depends_on: [facts], prompt: "Text from {{steps.facts.output}}"',
        'interactive: true, prompt: side by side',
      ),
      'answers.yaml': `rules:
  - step: facts
    answers: [{ question: first? }, { text: done }]
  - step: text
    answers: [{ question: second? }, { text: done }]
`,
    });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('asks: first?');
    running.child.stdin?.write('one\n');
    await running.seen('asks: second?');
    running.child.stdin?.write('two\n');
    const end = await running.ended;
    expect(end.code).toBe(0);
    expect(end.stdout.indexOf('one\r\n')).toBeLessThan(end.stdout.indexOf('asks: second?'));
    expect(end.stdout.indexOf('one\r\n')).toBeGreaterThan(end.stdout.indexOf('asks: first?'));
  });

  test('results on a terminal show control characters instead of obeying them', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN,
      'answers.yaml': 'rules:\n  - { step: facts, answer: "a\\e[2Jb" }\n  - { step: text, answer: ok }\n',
    });
    const end = await startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd }).ended;
    expect(end.stdout).toContain('a\\x1b[2Jb');
    expect(end.stdout).not.toContain('\u001b[2J');
  });
});
