import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const HEAD = 'inputs: { topic: { default: x }, files: { default: "[1]", type: list } }\n';
const inDag = (steps: string): string =>
  `name: f\n${HEAD}agents: { w: { inline: { prompt: Write. } } }\nsteps:\n  - { id: first, agent: w, prompt: Hi }\n${steps}`;
const inPipeline = (steps: string): string =>
  `${HEAD}agents: { w: { instruction: Write. } }\nworkflow:\n  - { id: first, type: agent, name: w }\n${steps}`;

async function saidOf(text: string): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': text });
  return (await served(['validate', 'flow.yaml'], { cwd })).stderr;
}

describe('a reference that is misspelt: the hint is the one that was meant', () => {
  test.each([
    ['{{steps.first.outputs}}', '{{steps.first.output}}'],
    ['{{steps.first}}', '{{steps.first.output}}'],
    ['{{steps.first.length}}', '{{steps.first.output.length}}'],
    ['{{step.first.output}}', '{{steps.first.output}}'],
    ['{{frist.output.a}}', '{{steps.first.output.a}}'],
    ['{{input.topic}}', '{{inputs.topic}}'],
    ['{{inputs.topic.x}}', '{{inputs.topic}}'],
    ['{{tpic}}', '{{inputs.topic}}'],
  ])('in a DAG workflow, %s: %s', async (written, meant) => {
    const said = await saidOf(inDag(`  - { id: b, agent: w, depends_on: [first], prompt: "${written}" }\n`));
    expect(said).toContain(`hint: did you mean ${meant}? A backslash`);
  });

  test.each([
    ['{{fil}}', '{{file}}'],
    ['{{fiel.path}}', '{{file.path}}'],
    ['{{item.path}}', '{{file.path}}'],
  ])('in a map of a DAG workflow, %s: %s', async (written, meant) => {
    const inner = `[{ id: b, agent: w, prompt: "${written}" }]`;
    const said = await saidOf(inDag(`  - { id: m, type: map, over: inputs.files, as: file, steps: ${inner} }\n`));
    expect(said).toContain(`hint: did you mean ${meant}? A backslash`);
  });

  test.each([
    ['{{ $tpic }}', 'did you mean $inputs.topic?'],
    ['{{ $topic }}', 'did you mean $inputs.topic?'],
    ['{{ $first }}', 'did you mean $steps.first.output?'],
    ['{{ $stpes.first.output }}', 'did you mean "steps"?'],
    ['{{= steps.first.output }}', 'references begin with a dollar sign: $steps'],
    ['{{= size(inptus.files) }}', 'references begin with a dollar sign: $inputs'],
    ['{{= size(other) }}', 'references begin with a dollar sign, such as $steps.ID.output; texts stand in quotes'],
  ])('in a pipeline, %s: %s', async (written, hint) => {
    const said = await saidOf(inPipeline(`  - { id: b, type: agent, name: w, prompt: "${written}" }\n`));
    expect(said).toContain(`hint: ${hint}`);
  });

  test('in a map of a pipeline, $fil: file', async () => {
    const inner = '[{ id: b, type: agent, name: w, prompt: "{{ $fil }}" }]';
    const said = await saidOf(inPipeline(`  - { id: m, type: map, over: $inputs.files, as: file, steps: ${inner} }\n`));
    expect(said).toContain('hint: did you mean "file"?');
  });

  test('in an expression of a DAG workflow, stesp: steps', async () => {
    const said = await saidOf(
      inDag('  - { id: b, agent: w, depends_on: [first], prompt: "{{= size(stesp.first.output) }}" }\n'),
    );
    expect(said).toContain('hint: did you mean "steps"?');
  });
});
