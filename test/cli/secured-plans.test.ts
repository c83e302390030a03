import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const DAG = `name: triage
security: default
agents: { w: { inline: { prompt: You sort., tools: [read_file] } } }
steps:
  - { id: sort, agent: w, prompt: Sort. }
  - { id: answer, agent: w, prompt: Answer., depends_on: [sort], security: { mode: research, scope: the parser, model: mock/echo } }
`;

test('plan tells which models look at calls, of the whole and of a step, and how many calls that makes', async () => {
  const cwd = await makeProject({ 'flow.yaml': DAG });
  const { code, stdout } = await served(['plan', 'flow.yaml'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('\nsecurity: default\n');
  expect(stdout).toContain('    security: research into "the parser", judged by mock/echo\n');
  // Of the calls of a step, each has both stages twice where a reviewer changes it, and a stage is tried 3 times.
  expect(stdout).toMatch(/\n {2}of these for security: 2 typically, \d+ at most\n/);
  const document = documentOf(await served(['plan', 'flow.yaml', '--json'], { cwd }));
  const { worst: calls } = document['toolCalls'] as { worst: number };
  expect(document).toMatchObject({
    security: { mode: 'default', text: 'default' },
    securityCalls: { typical: 2, worst: 4 * 3 * calls },
    steps: [{ id: 'sort' }, { id: 'answer', securities: [{ mode: 'research', scope: 'the parser' }] }],
  });
});

test('a step that is less careful than its file is a problem of validate, with its place', async () => {
  const cwd = await makeProject({ 'flow.yaml': DAG.replace('security: default', 'security: paranoid') });
  const { code, stdout, stderr } = await served(['validate', 'flow.yaml'], { cwd });
  expect(code).toBe(2);
  expect(stdout + stderr).toMatch(
    /flow\.yaml:6:\d+: error lowered-security: .*research into "the parser".* where paranoid holds/,
  );
});
