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

const AGENT = (text: string): string => `agents: { w: { instruction: 'You write ${text} twice.' } }
inputs: { x: { default: y } }
workflow:
  - { id: a, type: agent, name: w, prompt: Hi }
`;
const PACK = (text: string): string =>
  JSON.stringify({
    id: 'p',
    name: 'P',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    fragments: { house: 'Be kind.' },
    prompts: {
      chat: {
        id: 'chat',
        name: 'Chat',
        version: '1.0.0',
        system_template: `You say ${text} twice.`,
        variables: [{ name: 'who', type: 'string', required: false, default: 'me' }],
      },
    },
    workflow: { version: 1, entry: 'chat', states: { chat: { prompt_task: 'chat' } } },
  });

const nameOf = (file: unknown): string => (file === PACK ? 'flow.pack.json' : 'flow.yaml');

/** Texts, and what is said to be no reference. */
const CASES: readonly (readonly [file: (text: string) => string, text: string, written: string])[] = [
  [DAG, '{{steps.a.output}', '{{steps.a.output'],
  [DAG, '{{ inputs.x ', '{{ inputs.x'],
  [DAG, '{{steps.a.output} of {{steps.a.output}}', '{{steps.a.output'],
  [PIPELINE, '{{ $steps.a.output }', '{{ $steps.a.output'],
  [PIPELINE, '{{$prompt', '{{$prompt'],
  [AGENT, '{{ $inputs.x }', '{{ $inputs.x'],
  [PACK, '{{who}', '{{who'],
  [PACK, '{{fragments.house of {{who}}', '{{fragments.house'],
];

test.each(CASES.map(([file, text, written]) => ({ of: file.name, file, text, written })))(
  'a reference that is not closed is text, and a warning says so: $text in a $of file',
  async ({ file, text, written }) => {
    const cwd = await makeProject({ [nameOf(file)]: file(text) });
    const { code, stdout, stderr } = await served(['validate', nameOf(file)], { cwd });
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining(`"${written}" is not `)]);
  },
);

test.each([
  [DAG, '{{steps.a.output | upper}}'],
  [DAG, 'the text {{#if x}} and {{steps}} of others'],
  [DAG, String.raw`\{{steps.a.output} and \{{steps.a.output}}`],
  [DAG, '{{steps.a.output}} {{ steps.a.status }}'],
  [PIPELINE, String.raw`\{{ $steps.a.output }`],
  [PIPELINE, '{{ $steps.a.output }} {{ $prompt }}'],
  [AGENT, 'JSON like {{ "a": 1 } and {{name} and {{ $inputs.x }}'],
  [PACK, 'JSON like {{ "a": 1 } and {{who}}, {{ fragments.house }}'],
])('says nothing of other texts: %s %s', async (file, text) => {
  const cwd = await makeProject({ [nameOf(file)]: file(text) });
  const { stdout, stderr } = await served(['validate', nameOf(file)], { cwd });
  expect(stdout + stderr).not.toContain('behind the name');
});
