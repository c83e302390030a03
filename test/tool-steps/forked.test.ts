import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { runWorkflow } from '../../src/runtime.js';
import { NOTATIONS, loadSteps } from './support/both.js';

const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true } as const;

/** A step that leaves its name in a file, and gives how many names there are. */
const counts = (id: string, more = ''): string =>
  `{ id: ${id}${more}, run: [sh, -c, 'echo ${id} >> log; wc -l < log | tr -d " "'] }`;

/** Runs a workflow, and gives what forks of it did from a step on. */
async function forked(...loaded: Parameters<typeof loadSteps>) {
  const { workflow, cwd } = await loadSteps(...loaded);
  const options = { audit: false, cwd, store: memoryStore(), models } as const;
  const log = (): readonly string[] => readFileSync(join(cwd, 'log'), 'utf8').trim().split('\n');
  const first = await (await runWorkflow(workflow, options)).result;
  const whole = log();
  const from = async (step: string) => {
    const before = log().length;
    const fork = await (await runWorkflow(workflow, { ...options, fork: { run: first.runId, from: step } })).result;
    return [fork.outcome, log().slice(before)];
  };
  return { outcome: first.outcome, whole, from };
}

describe.each(NOTATIONS)('[addition 1] a fork of a %s', (notation) => {
  const after = (id: string): string => (notation === 'dag' ? `, depends_on: [${id}]` : '');

  it('runs a command in a loop again from the round on that it names, and none before it', async () => {
    const inner = `[${counts('work')}, ${counts('check', after('work'))}]`;
    const loop = `type: loop, max_rounds: 3, on_limit: continue, until: { line: never }, steps: ${inner}`;
    const { outcome, whole, from } = await forked(
      notation,
      `  - { id: rounds, ${loop} }\n  - ${counts('last', after('rounds'))}\n`,
    );
    expect([outcome, whole]).toEqual(['degraded', ['work', 'check', 'work', 'check', 'work', 'check', 'last']]);
    expect(await from('last')).toEqual(['degraded', ['last']]);
    expect(await from('rounds#3/check')).toEqual(['degraded', ['check', 'last']]);
    expect(await from('rounds#2/work')).toEqual(['degraded', ['work', 'check', 'work', 'check', 'last']]);
    expect(await from('rounds')).toEqual(['degraded', whole]);
  });

  it('runs a command and a tool of a called workflow again, from the step on that it names', async () => {
    const inner = `name: inner
steps:
  - ${counts('count')}
  - { id: read, depends_on: [count], tool: read_file, input: { path: log } }
  - { id: then, depends_on: [read], run: [sh, -c, 'echo then >> log; wc -l'], stdin: "{{steps.read.output}}" }
`;
    const files = { 'inner.yaml': inner };
    const steps = `  - { id: call, type: call, file: inner.yaml }\n  - ${counts('last', after('call'))}\n`;
    const { outcome, whole, from } = await forked(notation, steps, { files });
    expect([outcome, whole]).toEqual(['succeeded', ['count', 'then', 'last']]);
    expect(await from('call/then')).toEqual(['succeeded', ['then', 'last']]);
    expect(await from('call/read')).toEqual(['succeeded', ['then', 'last']]);
    expect(await from('call/count')).toEqual(['succeeded', ['count', 'then', 'last']]);
    expect(await from('last')).toEqual(['succeeded', ['last']]);
  });

  it('runs what stands at its end again, and can name a step of that', async () => {
    const steps = `  - ${counts('work')}\nfinally:\n  - ${counts('sweep')}\n  - ${counts('tell', after('sweep'))}\n`;
    const { outcome, whole, from } = await forked(notation, steps);
    expect([outcome, whole]).toEqual(['succeeded', ['work', 'sweep', 'tell']]);
    expect(await from('work')).toEqual(['succeeded', ['work', 'sweep', 'tell']]);
    expect(await from('finally/tell')).toEqual(['succeeded', ['sweep', 'tell']]);
  });
});
