import { expect, test } from 'vitest';
import { makeProject, startSkein } from './support/skein.js';

const LIST = JSON.stringify(Array.from({ length: 300 }, (_, at) => at));

/** Conditions that cost much each, one after the other; together they take half a minute. */
const FLOW = `name: slow
agents: { a: { inline: { prompt: You work., tools: [] } } }
steps:
${Array.from(
  { length: 1_500 },
  (_, at) =>
    `  - { id: s${at}, agent: a, prompt: go, depends_on: [${at === 0 ? '' : `s${at - 1}`}], condition: { cel: '${LIST}.all(x, ${LIST}.all(y, x + y >= 0))' } }\n`,
).join('')}`;

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so a test of one is skipped');

test.skipIf(!hasSignals)(
  '[XS5] a chain whose every condition costs much ends on Ctrl-C with exit 130',
  async () => {
    const cwd = await makeProject({ 'flow.yaml': FLOW });
    const running = startSkein(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    await running.seen('step s0 succeeded');
    running.child.kill('SIGINT');
    const end = await running.ended;
    expect(end.code).toBe(130);
    expect(end.stderr).toContain('cancelled');
    expect(end.stderr).not.toContain('step s1499 ');
  },
  300_000,
);
