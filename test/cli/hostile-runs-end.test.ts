import { expect, test } from 'vitest';
import { makeProject, startSkein } from './support/skein.js';

const LIST = JSON.stringify(Array.from({ length: 300 }, (_, at) => at));
const STEPS = Array.from({ length: 150 }, (_, at) => at);

/** Conditions that cost much each; together they take many seconds. */
function flow(step: (at: number) => string): string {
  return `name: slow\nagents: { a: { inline: { prompt: You work., tools: [] } } }\nsteps:\n${STEPS.map((at) => `  - { id: s${at}, agent: a, prompt: go, ${step(at)} }\n`).join('')}`;
}

const holds = `condition: { cel: '${LIST}.all(x, ${LIST}.all(y, x + y >= 0))' }`;
const fails = `condition: { cel: '${LIST}.all(x, ${LIST}.all(y, x + y < 0 || x + y >= 0)) && false' }`;

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so a test of one is skipped');

test.skipIf(!hasSignals).each([
  {
    name: 'a chain whose every condition costs much',
    files: { 'flow.yaml': flow((at) => `depends_on: [${at === 0 ? '' : `s${at - 1}`}], ${holds}`) },
    seen: 'step s0 succeeded',
  },
  {
    name: 'costly conditions of steps that are ready together',
    files: { 'flow.yaml': flow(() => fails) },
    seen: 'step s0 skipped',
  },
])(
  '[XS5] $name: ends on Ctrl-C with exit 130',
  async ({ files, seen }) => {
    const cwd = await makeProject(files);
    const running = startSkein(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    await running.seen(seen);
    running.child.kill('SIGINT');
    const end = await running.ended;
    expect(end.code).toBe(130);
    expect(end.stderr).toContain('cancelled');
    expect(end.stderr).not.toContain('step s149 ');
  },
  300_000,
);
