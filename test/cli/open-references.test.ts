import { expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const DAG = (text: string): string => `name: t
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: a, agent: w, prompt: Hi }
  - { id: b, agent: w, depends_on: [a], prompt: 'Say ${text} twice' }
`;
const PIPELINE = (text: string): string => `agents: { w: { instruction: You write. } }
workflow:
  - { id: a, type: agent, name: w, prompt: Hi }
  - { id: b, type: agent, name: w, prompt: 'Say ${text} twice' }
`;

/** Texts, and what is said to be no reference. */
const CASES: readonly (readonly [file: (text: string) => string, text: string, written: string])[] = [
  [DAG, '{{steps.a.output}', '{{steps.a.output'],
  [DAG, '{{ inputs.x ', '{{ inputs.x'],
  [DAG, '{{steps.a.output} of {{steps.a.output}}', '{{steps.a.output'],
  [PIPELINE, '{{ $steps.a.output }', '{{ $steps.a.output'],
  [PIPELINE, '{{$prompt', '{{$prompt'],
];

test.each(CASES.map(([file, text, written]) => ({ of: file.name, file, text, written })))(
  'a reference that is not closed is text, and a warning says so: $text in a $of file',
  async ({ file, text, written }) => {
    const cwd = await makeProject({ 'flow.yaml': file(text) });
    const { code, stdout, stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect([code, stdout + stderr]).toEqual([
      0,
      expect.stringContaining(`"${written}" is not a reference and is left as it is`),
    ]);
  },
);

test.each([
  [DAG, '{{steps.a.output | upper}}'],
  [DAG, 'the text {{#if x}} and {{steps}} of others'],
  [DAG, String.raw`\{{steps.a.output} and \{{steps.a.output}}`],
  [DAG, '{{steps.a.output}} {{ steps.a.status }}'],
  [PIPELINE, String.raw`\{{ $steps.a.output }`],
  [PIPELINE, '{{ $steps.a.output }} {{ $prompt }}'],
])('says nothing of other texts: %s %s', async (file, text) => {
  const cwd = await makeProject({ 'flow.yaml': file(text) });
  const { stdout, stderr } = await served(['validate', 'flow.yaml'], { cwd });
  expect(stdout + stderr).not.toContain('behind the name');
});
