import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `agents:
  scout: { instruction: You look. }
workflow:
  - { id: look, type: agent, name: scout, retry: { max_attempts: 2, initial_delay: 1ms, on: [no luck, later] } }
  - { id: again, type: agent, name: scout }
`;

/** A call that fails for good and is tried again as a step; one that fails for a passing reason and is made again; one that fails for good. */
const SCRIPT = `strict: false
rules:
  - step: look
    answers: [{ error: { status: 400, message: no luck } }, { error: { status: 503, message: later, retry_after: 0.01 } }, { text: Seen. }]
  - { step: again, answer: { error: { status: 401, message: who are you } } }
`;

test('[XP9] failed model calls are counted, and the line of a failure names the agent', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'script.yaml': SCRIPT });
  const end = await served(['exec', 'flow.yaml', 'go', '--mock=script.yaml', '--no-audit'], { cwd });
  expect(end.code).toBe(3);
  expect(end.stderr).toContain('\n4 model calls (script/script.yaml 1, 3 failed)');
  expect(end.stderr).toMatch(/\nstep again \(agent scout\) failed in /);
  expect(end.stderr).toMatch(/\nerror SKEIN_\w+ in step again \(agent scout\): /);
  const shown = await served(['show', '-1'], { cwd });
  expect(shown.stdout).toContain('\n4 model calls (script/script.yaml 1, 3 failed)');
  const show = documentOf(await served(['show', '-1', '--json'], { cwd }));
  expect(show).toMatchObject({ modelCalls: 4, failedModelCalls: 3 });
  const resumed = await served(['resume', '-1', '--json'], { cwd });
  expect(documentOf(resumed)).toMatchObject({
    modelCalls: 1,
    failedModelCalls: 1,
    before: { modelCalls: 4, failedModelCalls: 3 },
  });
  const whole = documentOf(await served(['show', '-1', '--json'], { cwd }));
  expect(whole).toMatchObject({ modelCalls: 5, failedModelCalls: 4 });
});

test('[XP9] a call that is cut off at a timeout was asked all the same; one that was never sent was not', async () => {
  const cwd = await makeProject({
    'slow.yaml': FLOW.replace(
      'retry: { max_attempts: 2, initial_delay: 1ms, on: [no luck, later] }',
      'timeout: 1s, on_error: continue',
    ),
    'script.yaml': `strict: false\nrules:\n  - { step: look, answer: { text: Late., delay: 1000s } }\n  - { step: again, answer: { error: { code: SKEIN_NO_KEY, message: no key } } }\n`,
  });
  const end = await served(['exec', 'slow.yaml', 'go', '--mock=script.yaml', '--no-audit', '--json'], { cwd });
  expect(documentOf(end)).toMatchObject({ outcome: 'failed', modelCalls: 1, failedModelCalls: 1 });
});

test('[15.5] the most model calls that skein plan tells are those of a run in which every try fails, and no try is multiplied by `retry`', async () => {
  const retry = 'retry: { max_attempts: 1, initial_delay: 1ms }';
  const flow = `agents:
  scout: { instruction: You look. }
workflow:
  - { id: look, type: agent, name: scout, ${retry} }
`;
  const block = `agents:
  scout: { instruction: You look. }
workflow:
  - { id: both, type: sequence, ${retry}, steps: [{ id: look, type: agent, name: scout }] }
`;
  const dag = `name: d
steps: [{ id: look, agent: scout, prompt: Look., retry_count: 1 }]
`;
  const scout = '---\nname: scout\ntools: []\n---\nYou look.\n';
  const script = `rules:
  - { repeat: true, answer: { error: { status: 503, message: later, retry_after: 0.01 } } }
`;
  const files = { 'flow.yaml': flow, 'block.yaml': block, 'dag.yaml': dag, '.github/agents/scout.agent.md': scout };
  const cwd = await makeProject({ ...files, 'script.yaml': script });
  for (const file of ['flow.yaml', 'block.yaml', 'dag.yaml']) {
    const plan = JSON.parse((await served(['plan', file, '--json'], { cwd })).stdout) as object;
    const verb = file === 'dag.yaml' ? ['run', file] : ['exec', file, 'go'];
    const end = await served([...verb, '--mock=script.yaml', '--no-audit', '--json'], { cwd });
    expect([file, documentOf(end)]).toMatchObject([file, { outcome: 'failed', modelCalls: 2 }]);
    expect([file, plan]).toMatchObject([file, { modelCalls: { worst: 2 } }]);
  }
});
