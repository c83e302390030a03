import { expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const ASKS_FIRST = `
name: asks
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: ok, type: ask, question: "Shall I write?", choices: ["yes", "no"] }
  - { id: text, agent: writer, depends_on: [ok], prompt: "Write.", condition: { step: ok, equals: "yes" } }
`;

test('a run that asked no model is replayed, up to the call that was not recorded', async () => {
  const cwd = await makeProject({ 'flow.yaml': ASKS_FIRST });
  const recorded = await served(['run', 'flow.yaml', '--mock', '--record', 'calls.jsonl', '--no-audit'], { cwd });
  const replayed = await served(['run', 'flow.yaml', '--replay', 'calls.jsonl', '--no-audit'], { cwd });
  expect(recorded.code).toBe(5);
  expect(replayed).toMatchObject({ code: 5, stdout: recorded.stdout });
  await served(['answer', '-1', 'ok', 'yes'], { cwd });
  const resumed = await served(['resume', '-1'], { cwd });
  expect(resumed.code).toBe(3);
  expect(resumed.stderr).toMatch(/SKEIN_REPLAY_MISS in step text .*calls\.jsonl has no recording of the call/);
  expect(resumed.stderr).toContain('the recording is empty');
  expect(resumed.stderr).toContain(
    'next: change what led to the failure, then continue: without a change it fails again',
  );
});

test('a replay that asks another model than the recorded one names the flag', async () => {
  const flow = `name: one
config: { model: openai/gpt-5-mini }
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps: [{ id: text, agent: writer, prompt: Write. }]
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  await served(['run', 'flow.yaml', '--model', 'mock/echo', '--record', 'calls.jsonl', '--no-audit'], { cwd });
  const other = await served(['run', 'flow.yaml', '--replay', 'calls.jsonl', '--no-audit'], { cwd });
  expect(other.code).toBe(3);
  expect(other.stderr).toContain('hint: name the recorded model with --model mock/echo, record it again');
  const same = await served(['run', 'flow.yaml', '--replay', 'calls.jsonl', '--model', 'mock/echo', '--no-audit'], {
    cwd,
  });
  expect(same.code).toBe(0);
});
