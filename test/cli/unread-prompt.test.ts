import { describe, expect, test } from 'vitest';
import type { Ended } from './support/skein.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const WARNING = 'warning: no step reads the prompt';
const AGENTS = 'agents: { a: { instruction: x } }\n';
/** A step that says the same whatever it is asked for. */
const DEAF = '{ id: one, type: agent, name: a, prompt: Always this., context: none }';

/** A pipeline of these steps, with more keys at its top. */
const pipeline = (steps: readonly string[], more = ''): string =>
  `${more}${AGENTS}workflow:\n${steps.map((step) => `  - ${step}\n`).join('')}`;

const DAG = `name: d
inputs: { prompt: { default: "" } }
agents: { a: { inline: { prompt: x, tools: [] } } }
steps:
  - { id: one, agent: a, prompt: Always this. }
`;

const SUB = `${AGENTS}inputs: { topic: {} }
workflow: [{ id: in, type: agent, name: a, prompt: "{{ $inputs.topic }}" }]
`;
const SUB_DEAF = `${AGENTS}inputs: { topic: {} }\nworkflow: [${DEAF}]\n`;

async function run(text: string, ...more: readonly string[]): Promise<Ended> {
  const cwd = await makeProject({ 'one.yaml': text, 'sub.yaml': SUB, 'deaf.yaml': SUB_DEAF });
  return await served(['exec', 'one.yaml', 'Hear me.', '--mock', '--no-audit', '--trust', ...more], { cwd });
}

describe('a prompt that the file reads is not told as unread', () => {
  test.each([
    ['what it gives', pipeline([DEAF], 'output: { values: { asked: "{{ $prompt }}" } }\n')],
    ['an expression in what it gives', pipeline([DEAF], 'output: { values: { n: "{{= size($prompt) }}" } }\n')],
    ['a set step', pipeline([DEAF, '{ type: set, values: { asked: "{{ $prompt }}" } }'])],
    ['an end', pipeline([DEAF, '{ type: end, reason: "{{ $prompt }}" }'])],
    [
      'a condition of the last step',
      pipeline([DEAF, `{ id: two, type: agent, name: a, prompt: x, when: "{{ $prompt == 'x' }}" }`]),
    ],
    [
      'a condition with a branch',
      pipeline([
        DEAF,
        `{ type: condition, condition: "{{ $prompt == 'x' }}", true: [{ type: agent, name: a, prompt: x }] }`,
      ]),
    ],
    [
      'the end of a loop',
      pipeline([`{ type: loop, until: "{{ size($prompt) > 1 }}", max_rounds: 2, steps: [${DEAF}] }`]),
    ],
    ['an argument of a command', pipeline([DEAF, '{ id: t, run: [echo, "{{ $prompt }}"] }'])],
    ['stdin of a command', pipeline([DEAF, '{ id: t, run: [cat], stdin: "{{ $prompt }}" }'])],
    ['a variable of a command', pipeline([DEAF, '{ id: t, run: [env], env: { P: "{{ $prompt }}" } }'])],
    ['a tool', pipeline([DEAF, '{ id: t, tool: glob, input: { pattern: "{{ $prompt }}" } }'])],
    ['a step under finally', `${pipeline([DEAF])}finally: [{ type: agent, name: a, prompt: "{{ $prompt }}" }]\n`],
    ['a step in a parallel block', pipeline(['{ type: parallel, steps: [{ type: agent, name: a }] }'])],
    [
      'a list',
      pipeline([
        '{ type: set, id: s, values: { l: [x] } }',
        '{ type: map, over: $steps.s.output.l, steps: [{ type: agent, name: a }] }',
      ]),
    ],
    ['an input of another file', pipeline(['{ type: call, file: sub.yaml, inputs: { topic: "{{ $prompt }}" } }'])],
    ['what a DAG gives', `${DAG}output: { values: { asked: "{{inputs.prompt}}" } }\n`],
    ['a condition of a DAG', DAG.replace('this. }', `this., condition: { cel: "inputs.prompt != ''" } }`)],
    ['a command of a DAG', `${DAG}  - { id: t, run: [echo, "{{inputs.prompt}}"] }\n`],
  ])('by %s', async (_where, text) => {
    const end = await run(text, '--strict');
    expect(end.stderr).not.toContain('no step reads the prompt');
    expect(end.code, end.stderr).toBe(0);
  });
});

describe('a prompt that nothing reads is told', () => {
  test.each([
    ['steps with prompts of their own', pipeline([DEAF])],
    ['a parallel block of them', pipeline([`{ type: parallel, steps: [${DEAF}] }`])],
    ['a loop of them', pipeline([`{ type: loop, until: { line: Always this. }, max_rounds: 2, steps: [${DEAF}] }`])],
    [
      'a list of them',
      pipeline([
        '{ type: set, id: s, values: { l: [x] } }',
        `{ type: map, over: $steps.s.output.l, steps: [${DEAF}] }`,
      ]),
    ],
    [
      'another file that does not look at it',
      pipeline(['{ type: call, file: deaf.yaml, inputs: { topic: "{{ $prompt }}" } }']),
    ],
    ['steps under finally', `${pipeline([DEAF])}finally: [${DEAF}]\n`],
    ['a DAG', DAG],
  ])('by %s', async (_what, text) => {
    const end = await run(text);
    expect([end.code, end.stderr.includes(WARNING)], end.stderr).toEqual([0, true]);
    const strict = await run(text, '--strict');
    expect([strict.code, strict.stderr.includes('SKEIN_INPUT: no step reads the prompt')]).toEqual([2, true]);
  });
});
