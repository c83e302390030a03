import { expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const DAG = (key: string): string => `name: t
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: a, agent: w, prompt: Hi, "${key}": x }
`;
const PIPELINE = (key: string): string => `agents: { w: { instruction: You write. } }
workflow:
  - { id: a, type: agent, name: w, prompt: Hi, "${key}": x }
`;
const MAP = (key: string): string => `name: t
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: a, type: map, "${key}": [x], steps: [{ id: b, agent: w, prompt: Hi }] }
`;

/** Keys of steps in other systems, and what Skein has in their place. */
const CASES: readonly (readonly [key: string, file: (key: string) => string, remedy: string])[] = [
  ...['for_each', 'foreach', 'matrix', 'strategy', 'with_items', 'over', 'map'].flatMap((key) =>
    [DAG, PIPELINE].map((file) => [key, file, 'for each item of a list: type: map, with over: LIST'] as const),
  ),
  ['for_each', MAP, 'did you mean "over"?'],
  ['items', MAP, 'did you mean "over"?'],
  ['item', MAP, 'did you mean "as"?'],
  ['loop_var', MAP, 'did you mean "as"?'],
  ['loop', DAG, 'to repeat steps: type: loop'],
  ['if', DAG, 'did you mean "condition"?'],
  ['if', PIPELINE, 'when: CONDITION skips this step; type: condition chooses between steps'],
  ['needs', DAG, 'did you mean "depends_on"?'],
  ['needs', PIPELINE, 'steps run in the order of the file'],
  ['parallel', DAG, 'unless one has depends_on'],
  ['parallel', PIPELINE, 'type: parallel, with steps'],
  ['uses', DAG, 'did you mean "agent"?'],
  ['uses', PIPELINE, 'an agent is called by name: NAME'],
  ['with', DAG, 'only type: call, with file: PATH, has inputs'],
  ['env', PIPELINE, 'only a step with run: [COMMAND, ...] has env'],
  ['script', DAG, 'to run a command: run: [COMMAND, ARGUMENT, ...]'],
];

test.each(CASES.map(([key, file, remedy]) => ({ key, file, of: file.name, remedy })))(
  'a key of another system, $key in a $of file: the hint names what Skein has',
  async ({ key, file, remedy }) => {
    const cwd = await makeProject({ 'flow.yaml': file(key) });
    const { code, stderr } = await served(['validate', 'flow.yaml'], { cwd });
    expect(code).toBe(2);
    const [, hint = ''] = new RegExp(`unknown key "${key}" in step "a"\n {4}hint: (.*)`).exec(stderr) ?? [];
    expect(hint).toContain(remedy);
  },
);
