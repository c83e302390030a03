import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Screen } from './support/screen.js';
import { CHAIN, makeProject } from './support/skein.js';
import { inOrder, noTerminal, screenOf, startOnTerminal, visible } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`tests of the live view on a terminal are skipped: ${missing}`);

/** So many steps at once, each of which takes a while and fails when it is named like that. */
function sideBySide(count: number, ms: number, id = (at: number): string => `step-${at}`): string {
  return `
import { definePlan } from 'skein';
import { setTimeout } from 'node:timers/promises';
const ids = ${JSON.stringify(Array.from({ length: count }, (_, at) => id(at)))};
export default definePlan({ name: 'wide', nodes: ids.map((id) => ({ id, run: async (_, { signal }) => {
  await setTimeout(${ms}, undefined, { signal });
  return {};
} })) });
`;
}

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const RUN = ['run', 'flow.mjs', '--no-audit', '--no-color'];

describe.skipIf(missing !== undefined)('[XU5] a run on a terminal', () => {
  it.each([
    ['that breaks lines when it gets narrower', 'xterm-256color'],
    ['that cuts lines off when it gets narrower', 'linux'],
  ])('of 500 steps at once is clean at the end of a terminal that is resized all the time, %s', async (_, TERM) => {
    const cwd = await makeProject({ 'flow.mjs': sideBySide(500, 2_000, (at) => `${'long-'.repeat(12)}${at}`) });
    const narrower = ['80x40', '64x40', '50x40', '40x40', '32x40', '25x40', '20x40'];
    const sizes = [...narrower, '31x30', '31x40', '70x34', '110x40'];
    const size = { cwd, env: { TERM }, columns: 100, rows: 40, sizes };
    const end = await startOnTerminal(RUN, size).ended;
    expect(end.code).toBe(0);
    expect(end.stdout.match(/\d+\/500/g)?.length ?? 0).toBeGreaterThan(3);
    expect(end.stdout.split('\u001b[8;').length).toBeGreaterThan(5);
    const screen = new Screen({ columns: 100, rows: 40, breaks: TERM !== 'linux' });
    screen.write(inOrder(end.stdout));
    expect(screen.isAtRest).toBe(true);
    const left = screen.all();
    expect(left.filter((line) => SPINNER.test(line) || /\/500|waiting|running/.test(line))).toEqual([]);
    expect(left.filter((line) => line.includes('long-'))).toEqual([]);
    expect(left.length).toBeLessThan(30);
  });

  it('of 20 columns has no line that is too long while it is drawn', async () => {
    const cwd = await makeProject({
      'flow.mjs': sideBySide(5, 1_500, (at) => `wide-${'y'.repeat(50)}-${at}`),
    });
    const end = await startOnTerminal(RUN, { cwd, columns: 20, rows: 30 }).ended;
    const drawn = end.stdout.split(/\r\n|\r/).filter((line) => SPINNER.test(line));
    expect(drawn.length).toBeGreaterThan(0);
    for (const line of drawn) expect(stripVTControlCharacters(line).length).toBeLessThan(20);
  });

  it('tells of 31 steps in a few lines, what to look at last', async () => {
    const cwd = await makeProject({ 'flow.mjs': sideBySide(31, 300) });
    const end = await startOnTerminal(RUN, { cwd }).ended;
    const screen = screenOf(end.stdout).filter((line) => line !== '');
    expect(screen.length).toBeLessThan(12);
    expect(screen).toContain('  … and 31 steps more');
    expect(screen.at(-1)).toMatch(/^recorded as run \w+$/);
  });

  it.each([
    ['CI=true', { CI: 'true' }, /␛\[[\d;]*m/g],
    ['TERM=dumb, without colours', { TERM: 'dumb' }, ''],
    ['NO_COLOR, without colours', { NO_COLOR: '1' }, ''],
  ] as const)('is told in plain lines under %s', async (_, env, colours) => {
    const cwd = await makeProject({ 'flow.mjs': sideBySide(3, 500) });
    const end = await startOnTerminal(['run', 'flow.mjs', '--no-audit'], { cwd, env }).ended;
    expect(end.stdout).not.toMatch(SPINNER);
    // Colours are all that may be there of control sequences.
    expect(visible(end.stdout).replaceAll(colours, '')).not.toContain('␛');
    expect(screenOf(end.stdout).filter((line) => /^step step-\d (?:started|succeeded in)/.test(line))).toHaveLength(6);
  });

  it('is drawn under CI=false', async () => {
    const cwd = await makeProject({ 'flow.mjs': sideBySide(3, 800) });
    const end = await startOnTerminal(RUN, { cwd, env: { CI: 'false' } }).ended;
    expect(end.stdout).toMatch(SPINNER);
  });

  it('has only ASCII where the locale has no more', async () => {
    const cwd = await makeProject({ 'flow.mjs': sideBySide(30, 800, (at) => `${'long-'.repeat(30)}${at}`) });
    const end = await startOnTerminal(RUN, { cwd, env: { LC_ALL: 'C' } }).ended;
    expect(end.stdout).toMatch(/0\/30 \| \ds/);
    expect(end.stdout).toMatch(/[|/\\-] long-.*\.\.\./);
    expect(end.stdout).not.toMatch(/[^\p{ASCII}]/u);
  });

  it.each([1, 2])(
    'that Ctrl-C ends (pressed %i times) leaves nothing of the live view and a cursor that can be seen',
    async (times) => {
      const cwd = await makeProject({ 'flow.mjs': sideBySide(5, 60_000) });
      const running = startOnTerminal(RUN, { cwd });
      await running.seen('0/5');
      running.child.stdin?.write('\u0003');
      if (times === 2) {
        await running.seen('SIGINT: closing the run');
        // The same key within half a second counts once.
        setTimeout(() => running.child.stdin?.write('\u0003'), 600);
      }
      const end = await running.ended;
      expect(end.code).toBe(130);
      const screen = new Screen({ columns: 100, rows: 30 });
      screen.write(end.stdout);
      expect(screen.isAtRest).toBe(true);
      expect(end.stdout).not.toContain('\u001b[?25l');
      expect(screen.all().filter((line) => SPINNER.test(line) || line.includes('/5'))).toEqual([]);
    },
  );

  it('that an exception of a step ends leaves nothing of the live view, and says it once', async () => {
    const cwd = await makeProject({
      'flow.mjs': sideBySide(3, 300)
        .replace('return {};', "if (step === undefined) return {}; throw new Error('it broke');")
        .replace('async (_, { signal })', 'async (_, step)')
        .replace('{ signal }', '{ signal: step.signal }'),
    });
    const end = await startOnTerminal(RUN, { cwd }).ended;
    expect(end.code).toBe(3);
    const screen = screenOf(end.stdout);
    expect(screen.filter((line) => SPINNER.test(line))).toEqual([]);
    expect(screen.filter((line) => line.includes('it broke'))).toHaveLength(1);
  });

  it('shows the tree of an agent workflow', async () => {
    const slow =
      'rules:\n  - { step: facts, answer: { text: They weave., delay: 600ms } }\n  - { step: text, answer: Looms weave. }\n';
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': slow });
    const end = await startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit', '--no-color'], { cwd })
      .ended;
    const frames = end.stdout.split('\u001b[?7l').map((frame) => screenOf(stripVTControlCharacters(frame)));
    expect(frames).toContainEqual(
      expect.arrayContaining([
        expect.stringMatching(/^chain {2}0\/2 · 0s/),
        expect.stringMatching(/^\S facts {2}script\/answers\.yaml {2}0s$/),
        '· text',
      ]),
    );
  });
});
