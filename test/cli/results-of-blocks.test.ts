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

interface Case {
  readonly of: string;
  readonly steps: string;
  readonly told: readonly (readonly [path: string, text: string])[];
}

const SEQUENCE = `{ id: s, type: sequence, steps: [${say('b', 'B')}, ${say('c', 'C')}] }`;
const FAILED = '*Failed: node ended with exit code 3*';
const CASES: readonly Case[] = [
  {
    of: 'a parallel block',
    steps: `{ id: p, type: parallel, steps: [${say('a', 'A')}, ${say('b', 'B')}] }`,
    told: [
      ['p/a', 'A'],
      ['p/b', 'B'],
    ],
  },
  {
    of: 'a sequence inside of one',
    steps: `{ id: p, type: parallel, steps: [${say('a', 'A')}, ${SEQUENCE}] }`,
    told: [
      ['p/a', 'A'],
      ['p/s/c', 'C'],
    ],
  },
  { of: 'a called file', steps: '{ id: c, type: call, file: inner.yaml }', told: [['c/i2', 'Second']] },
  {
    of: 'a block of which a part may fail',
    steps: `{ id: p, type: parallel, require: 1, steps: [${say('a', 'A')}, ${FAILS}] }`,
    told: [
      ['p/a', 'A'],
      ['p/bad', FAILED],
    ],
  },
  {
    of: 'a block that failed',
    steps: `{ id: p, type: parallel, steps: [${say('a', 'A')}, ${FAILS}] }`,
    told: [['p', FAILED]],
  },
  {
    of: 'a block that was skipped',
    steps: `{ id: p, type: parallel, when: "{{ $prompt == 'x' }}", steps: [${say('a', 'A')}, ${say('b', 'B')}] }`,
    told: [['p', '*Skipped*']],
  },
];

test.each(CASES)(
  'a pipeline that ends with $of prints the results of its last steps, by their paths',
  async ({ steps, told }) => {
    expect((await printed(steps)).trimEnd()).toBe(sections(...told));
  },
);

test('a DAG workflow that calls a file with several results prints them the same way', async () => {
  const inner = `${AGENTS}workflow:\n  - { id: p, type: parallel, steps: [${say('a', 'A')}, ${say('b', 'B')}] }\n`;
  const dag = 'name: d\nsteps:\n  - { id: c, type: call, file: inner.yaml }\n';
  for (const more of ['', 'output: { steps: [c] }\n']) {
    const cwd = await makeProject({ 'dag.yaml': dag + more, 'inner.yaml': inner });
    const { stdout } = await served(['run', 'dag.yaml'], { cwd });
    expect(stdout.trimEnd()).toBe(sections(['c/p/a', 'A'], ['c/p/b', 'B']));
  }
});

test('so does JSON', async () => {
  const text = await printed(`{ id: p, type: parallel, steps: [${say('a', 'A')}, ${say('b', 'B')}] }`, [
    '--format',
    'json',
  ]);
  expect(JSON.parse(text)).toEqual({
    steps: { 'p/a': { status: 'completed', output: 'A' }, 'p/b': { status: 'completed', output: 'B' } },
  });
});
