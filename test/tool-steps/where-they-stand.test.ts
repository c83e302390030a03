import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { runWorkflow } from '../../src/runtime.js';
import type { Notation } from './support/both.js';
import { NOTATIONS, loadSteps, runSteps } from './support/both.js';

const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true } as const;

/** A step that leaves a line in a file, and gives how many there are. */
const counting = (id: string): string => `id: ${id}, run: [sh, -c, 'echo x >> ${id}; wc -l < ${id} | tr -d " "']`;
const READY = `effect: idempotent, run: [sh, -c, 'test -e ready && echo yes']`;

/** Steps that run at the same time. */
const together = (notation: Notation, steps: readonly string[]): string =>
  notation === 'dag'
    ? steps.map((step) => `  - { ${step} }\n`).join('')
    : `  - { id: par, type: parallel, steps: [${steps.map((step) => `{ ${step} }`).join(', ')}] }\n`;

/** The output of a block whose last step is `inner`: a pipeline names the step, a DAG workflow the block. */
const outputIn = (state: Readonly<Record<string, unknown>>, block: string, inner: string): unknown =>
  state[`steps.${block}.output`] ?? state[`steps.${block}/${inner}.output`];

/** Runs what fails until there is a file `ready`, and resumes it once there is. */
async function resumed(...loaded: Parameters<typeof loadSteps>) {
  const { workflow, cwd } = await loadSteps(...loaded);
  const options = { audit: false, cwd, store: memoryStore(), models } as const;
  const first = await (await runWorkflow(workflow, options)).result;
  writeFileSync(join(cwd, 'ready'), '');
  const second = await (await runWorkflow(workflow, { ...options, resume: first.runId })).result;
  return { first, second, lines: (file: string) => readFileSync(join(cwd, file), 'utf8') };
}

/** A workflow that is called: its second step runs this. */
const inner = (argv: string): string => `name: inner
inputs: { word: { default: x } }
steps:
  - { ${counting('count')} }
  - { id: then, depends_on: [count], effect: idempotent, run: ${argv} }
`;

/** One after the other, among steps that run at the same time. */
const inTurn = (notation: Notation, first: string, last: string): readonly string[] =>
  notation === 'dag'
    ? [first, last.replace(', ', ', depends_on: [done], ')]
    : [`id: seq, type: sequence, steps: [{ ${first} }, { ${last} }]`];

describe.each(NOTATIONS)('[addition 1] a command of a %s', (notation) => {
  const after = (id: string): string => (notation === 'dag' ? `depends_on: [${id}], ` : '');

  it('runs again in each round of a loop, which can end by what it writes', async () => {
    const loop = `type: loop, max_rounds: 5, until: { line: "3" }, steps: [{ ${counting('count')} }]`;
    const { outcome, state, cwd } = await runSteps(notation, `  - { id: rounds, ${loop} }\n`);
    expect([outcome, outputIn(state, 'rounds', 'count')]).toEqual(['succeeded', '3']);
    expect(readFileSync(join(cwd, 'count'), 'utf8')).toBe('x\nx\nx\n');
  });

  it('that succeeded in a round of a loop does not run again on a resume', async () => {
    const round = `[{ ${counting('count')} }, { id: then, ${after('count')}${READY} }]`;
    const loop = `type: loop, max_rounds: 2, until: { line: "yes" }, steps: ${round}`;
    const { first, second, lines } = await resumed(notation, `  - { id: rounds, ${loop} }\n`);
    expect([first.outcome, second.outcome]).toEqual(['failed', 'succeeded']);
    expect(lines('count')).toBe('x\n');
  });

  it('runs at the same time as another one, each in the working directory', async () => {
    // Each waits for a file that the other one makes.
    const waits = (mine: string, other: string): string =>
      `id: ${mine}, run: [sh, -c, 'touch ${mine}; until test -e ${other}; do sleep 0.01; done; echo ${mine}']`;
    const steps = together(notation, [waits('left', 'right'), waits('right', 'left')]);
    const { outcome, state } = await runSteps(notation, steps);
    expect(outcome).toBe('succeeded');
    expect(JSON.stringify(state)).toMatch(/"left".*"right"/);
  });

  it('that succeeded beside one that failed does not run again on a resume', async () => {
    // It fails once a step runs that comes after the other one.
    const waits = 'until test -e mark; do sleep 0.01; done; test -e ready && echo yes';
    const { first, second, lines } = await resumed(
      notation,
      together(notation, [
        ...inTurn(notation, counting('done'), 'id: mark, run: [touch, mark], effect: idempotent'),
        `id: late, effect: idempotent, run: [sh, -c, '${waits}']`,
      ]),
    );
    expect([first.outcome, second.outcome]).toEqual(['failed', 'succeeded']);
    expect(lines('done')).toBe('x\n');
  });

  it('runs in a workflow that another one calls, with what that gives it, and once over a resume', async () => {
    const steps = '  - { id: call, type: call, file: inner.yaml, inputs: { word: hi } }\n';
    const files = { 'inner.yaml': inner(`[sh, -c, 'test -e ready && echo "$1"', sh, "{{ inputs.word }}"]`) };
    const { first, second, lines } = await resumed(notation, steps, { files });
    expect([first.outcome, first.error?.code, second.outcome]).toEqual(['failed', 'SKEIN_EXIT', 'succeeded']);
    expect(outputIn(second.state, 'call', 'then')).toBe('hi');
    expect(lines('count')).toBe('x\n');
  });

  it('is asked about in a called workflow too, where an argument is what another command gave', async () => {
    const steps = '  - { id: call, type: call, file: inner.yaml, inputs: { word: hi } }\n';
    const files = { 'inner.yaml': inner('[touch, "{{ steps.count.output }}"]') };
    const { outcome, cwd } = await runSteps(notation, steps, { files });
    expect([outcome, existsSync(join(cwd, 'count')), existsSync(join(cwd, '1'))]).toEqual(['paused', true, false]);
  });
});
