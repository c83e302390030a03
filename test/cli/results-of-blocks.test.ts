import { expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const AGENTS = 'agents: { w: { model: mock/echo, instruction: You write. } }\n';
const say = (id: string, text: string): string => `{ id: ${id}, type: agent, name: w, prompt: ${text} }`;
const FAILS = '{ id: bad, type: run, run: [node, -e, "process.exit(3)"] }';

/** What a pipeline with these steps prints on stdout. */
async function printed(steps: string, flags: readonly string[] = []): Promise<string> {
  const inner = `${AGENTS}workflow:\n  - ${say('i1', 'First')}\n  - ${say('i2', 'Second')}\n`;
  const cwd = await makeProject({ 'flow.yaml': `${AGENTS}workflow:\n  - ${steps}\n`, 'inner.yaml': inner });
  return (await served(['run', 'flow.yaml', '--trust', ...flags], { cwd })).stdout;
}
const sections = (...all: readonly (readonly [path: string, text: string])[]): string =>
  ['# Workflow Results', ...all.map(([path, text]) => `## Step: ${path}\n\n${text}`)].join('\n\n');

test.each([
  [
    'a parallel block',
    `{ id: p, type: parallel, steps: [${say('a', 'A')}, ${say('b', 'B')}] }`,
    ['p/a', 'A'],
    ['p/b', 'B'],
  ],
  [
    'a sequence inside of one',
    `{ id: p, type: parallel, steps: [${say('a', 'A')}, { id: s, type: sequence, steps: [${say('b', 'B')}, ${say('c', 'C')}] }] }`,
    ['p/a', 'A'],
    ['p/s/c', 'C'],
  ],
  ['a called file', '{ id: c, type: call, file: inner.yaml }', ['c/i2', 'Second']],
  [
    'a block of which a part may fail',
    `{ id: p, type: parallel, require: 1, steps: [${say('a', 'A')}, ${FAILS}] }`,
    ['p/a', 'A'],
    ['p/bad', '*Failed: node ended with exit code 3*'],
  ],
  [
    'a block that failed',
    `{ id: p, type: parallel, steps: [${FAILS}] }`,
    ['p', '*Failed: node ended with exit code 3*'],
  ],
  [
    'a block that was skipped',
    `{ id: p, type: parallel, when: "{{ $prompt == 'x' }}", steps: [${say('a', 'A')}, ${say('b', 'B')}] }`,
    ['p', '*Skipped*'],
  ],
] as const)(
  'a pipeline that ends with %s prints the results of its last steps, by their paths',
  async (_, steps, ...told) => {
    expect((await printed(steps)).trimEnd()).toBe(sections(...told));
  },
);

test('so does JSON', async () => {
  const text = await printed(`{ id: p, type: parallel, steps: [${say('a', 'A')}, ${say('b', 'B')}] }`, [
    '--format',
    'json',
  ]);
  expect(JSON.parse(text)).toEqual({
    steps: { 'p/a': { status: 'completed', output: 'A' }, 'p/b': { status: 'completed', output: 'B' } },
  });
});
