import { describe, expect, it } from 'vitest';
import { served } from './support/served.js';
import { documentOf, makeProject } from './support/skein.js';

const FLOW = `name: forked
inputs: { list: { type: list, default: [] }, on: { type: boolean, default: false } }
agents: { worker: { inline: { prompt: You work., tools: [] } } }
steps:
  - { id: first, agent: worker, prompt: Begin. }
  - { id: sums, type: set, depends_on: [first], values: { about: "{{steps.first.output}}" } }
  - { id: each, type: map, depends_on: [first], over: inputs.list, steps: [{ id: one, agent: worker, prompt: "{{item}}" }] }
  - { id: deep, agent: worker, depends_on: [first], condition: { cel: inputs.on }, prompt: Dig. }
  - { id: page, type: call, depends_on: [first], file: page.yaml, inputs: { text: "{{steps.first.output}}" } }
  - { id: extra, agent: worker, depends_on: [first], on_error: continue, prompt: Add. }
  - id: last
    agent: worker
    depends_on: [sums, each, deep, page, extra]
    prompt: "{{steps.sums.output}} {{steps.each.output}} {{steps.deep.output}} {{steps.page.output}} {{steps.extra.output}}"
`;

const PAGE = `name: page
inputs: { text: {} }
agents: { worker: { inline: { prompt: You work., tools: [] } } }
steps: [{ id: page, type: set, values: { text: "{{inputs.text}}" } }]
output: { values: { text: "{{steps.page.output.text}}" } }
`;

const SCRIPT = `strict: false
rules:
  - { step: first, answer: Begun. }
  - { step: extra, answer: { error: { status: 400, message: no } }, repeat: true }
`;

async function recorded(flow: string): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': flow, 'page.yaml': PAGE, 'script.yaml': SCRIPT });
  const ran = await served(['run', 'flow.yaml', '--mock=script.yaml', '--no-audit'], { cwd });
  expect(ran.code, ran.stderr).toBe(0);
  return cwd;
}

async function outputOf(step: string, set: string, cwd: string): Promise<unknown> {
  const forked = await served(['fork', '-1', '--input-json', set, '--json'], { cwd });
  expect(forked.code, forked.stderr).toBe(0);
  const { steps } = documentOf(forked) as { steps: Record<string, { output: unknown }> };
  const resumed = await served(['resume', '-1', '--json'], { cwd });
  expect(documentOf(resumed)).toMatchObject({ steps: { [step]: { output: steps[step]?.output } } });
  return steps[step]?.output;
}

describe('skein fork --set of a step that left no result in the record', () => {
  it.each([
    ['computes values', 'sums={"about":"own"}', '{"about":"own"} []  {"text":"Begun."} '],
    ['went through an empty list', 'each=["own"]', '{"about":"Begun."} ["own"]  {"text":"Begun."} '],
    ['was skipped', 'deep="own"', '{"about":"Begun."} [] own {"text":"Begun."} '],
    ['called a file that asks no model', 'page={"text":"own"}', '{"about":"Begun."} []  {"text":"own"} '],
    ['failed as allowed', 'extra="own"', '{"about":"Begun."} []  {"text":"Begun."} own'],
  ])('one that %s', async (_what, set, output) => {
    expect(await outputOf('last', set, await recorded(FLOW))).toBe(output);
  });

  it('one that computes values in a jump back, for its last visit', async () => {
    const flow = `agents: { worker: { instruction: You work. } }
workflow:
  context: none
  steps:
    - { id: draft, type: agent, name: worker, prompt: "Draft {{ $steps.count.output.rounds? }}" }
    - { id: count, type: set, values: { rounds: "{{= has($steps.count.output.rounds) ? $steps.count.output.rounds + 1 : 1 }}" } }
    - { type: condition, condition: "{{ $steps.count.output.rounds < 3 }}", true: { goto: draft } }
    - { id: last, type: agent, name: worker, prompt: "{{ $steps.count.output.rounds }} rounds" }
`;
    expect(await outputOf('last', 'count={"rounds":9}', await recorded(flow))).toBe('9 rounds');
  });
});
