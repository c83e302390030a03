import { expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const FLOW = `agents: { w: { instruction: Write. } }
workflow:
  - { id: first, type: agent, name: w }
  - id: both
    type: parallel
    steps:
      - { id: a, type: agent, name: w }
      - { id: inner, type: sequence, steps: [{ id: b, type: agent, name: w }, { id: c, type: agent, name: w }] }
`;
const SCRIPT = `strict: false
rules: [{ step: c, answers: [{ error: { code: SKEIN_TIMEOUT, message: none } }] }]
`;

test('show lists a block that failed before its steps, as the end of the run does', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'script.yaml': SCRIPT });
  const ran = await served(['run', 'flow.yaml', '--mock=script.yaml'], { cwd });
  const { stdout } = await served(['show', '-1'], { cwd });
  const listed = (text: string): readonly string[] =>
    [...text.matchAll(/^ {2}[✔✖○] (\S+)/gm)].map(([, path = '']) => path);
  expect(listed(stdout)).toContain('both/inner');
  expect(listed(stdout).indexOf('both')).toBeLessThan(listed(stdout).indexOf('both/a'));
  expect(listed(stdout).indexOf('both/inner')).toBeLessThan(listed(stdout).indexOf('both/inner/b'));
  expect(new Set(listed(stdout))).toEqual(new Set(listed(ran.stderr)));
});
