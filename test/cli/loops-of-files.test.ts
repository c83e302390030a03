import { describe, expect, it } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const DAG = `name: dag
inputs: { rounds: { default: "3" } }
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - id: polish
    type: loop
    until: { line: DONE }
    rounds: inputs.rounds
    max_rounds: 4
    keep: before
    on_limit: continue
    steps: [{ id: edit, agent: w, prompt: "Edit {{steps.edit.output?}}" }]
  - { id: end, agent: w, depends_on: [polish], prompt: "{{steps.polish.output}}" }
`;

const PIPELINE = `agents: { w: { instruction: You write. } }
workflow:
  - id: polish
    type: loop
    until: { line: DONE }
    rounds: "{{ $prompt }}"
    max_rounds: 4
    keep: before
    on_limit: continue
    steps: [{ id: edit, type: agent, name: w, prompt: "Edit" }]
  - { id: end, type: agent, name: w, prompt: "{{ $steps.polish.output }}" }
`;

const SCRIPT = `strict: false
rules:
  - { step: "polish#3/edit", answer: DONE }
  - { step: "polish#2/edit", answer: two }
  - { step: "polish#1/edit", answer: one }
  - { step: end, answer: end }
`;

describe.each([
  ['a DAG workflow', DAG, 'rounds', 'until steps.edit.output has the line "DONE", inputs.rounds rounds, at most 4'],
  ['a pipeline', PIPELINE, 'prompt', 'until steps.polish/edit.output has the line "DONE", prompt rounds, at most 4'],
])('[issue 14] a loop of %s', (_, flow, input, line) => {
  const files = { 'flow.yaml': flow, 'script.yaml': SCRIPT };

  it('is checked, planned and drawn', async () => {
    const cwd = await makeProject(files);
    expect((await served(['validate', 'flow.yaml'], { cwd })).stdout).toBe('flow.yaml is valid\n');
    const planned = await served(['plan', 'flow.yaml'], { cwd });
    expect(planned.stdout).toContain(`${line}\n    polish/edit (agent w`);
    expect(planned.stdout).toContain('model calls: 3 typically, 15 at most');
    const drawn = await served(['graph', 'flow.yaml', '--format', 'mermaid'], { cwd });
    expect(drawn.stdout).toContain('at most 4');
  });

  it('runs and keeps the round before; a finished run is answered from its record', async () => {
    const cwd = await makeProject(files);
    const ran = await served(['run', 'flow.yaml', '--input', `${input}=3`, '--mock=script.yaml', '--json'], { cwd });
    expect(ran.code, ran.stderr).toBe(0);
    const { steps } = JSON.parse(ran.stdout) as { steps: Record<string, { output?: unknown }> };
    expect([steps['polish#3/edit']?.output, steps['polish']?.output]).toEqual(['DONE', 'two']);
    const again = await served(['resume', '-1'], { cwd });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('end')]);
  });

  it('degrades the run at its limit, which --strict does not accept', async () => {
    const cwd = await makeProject(files);
    const args = ['run', 'flow.yaml', '--input', `${input}=2`, '--mock=script.yaml'];
    const ran = await served(args, { cwd });
    expect([ran.code, ran.stderr.includes('1 limit reached')]).toEqual([0, true]);
    expect(ran.stderr).toContain("warning: the loop 'polish' did not end within its 2 rounds");
    expect((await served([...args, '--strict'], { cwd })).code).toBe(4);
    const over = await served(['run', 'flow.yaml', '--input', `${input}=9`, '--mock=script.yaml'], { cwd });
    expect([over.code, over.stderr.includes('is 9, more than the cap of 4')]).toEqual([3, true]);
  });
});
