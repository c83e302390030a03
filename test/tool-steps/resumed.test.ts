import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { runWorkflow } from '../../src/runtime.js';
import { NOTATIONS, loadSteps } from './support/both.js';

describe.each(NOTATIONS)('a recorded run of a %s with commands', (notation) => {
  it('runs again what failed, and nothing that succeeded, on a resume and in a fork', async () => {
    const after = notation === 'dag' ? 'depends_on: [once], ' : '';
    const steps = `
  - { id: once, run: [sh, -c, 'echo did >> log; echo done'] }
  - { id: then, ${after}run: [sh, -c, 'test -e ready && echo yes'], effect: idempotent }
`;
    const { workflow, cwd } = await loadSteps(notation, steps);
    const store = memoryStore();
    const options = {
      audit: false,
      cwd,
      store,
      models: { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true },
    } as const;
    const first = await (await runWorkflow(workflow, options)).result;
    expect([first.outcome, first.error?.code]).toEqual(['failed', 'SKEIN_EXIT']);
    writeFileSync(join(cwd, 'ready'), '');
    const second = await (await runWorkflow(workflow, { ...options, resume: first.runId })).result;
    expect(second.outcome).toBe('succeeded');
    expect(second.state['steps.then.output']).toBe('yes');
    const fork = await (await runWorkflow(workflow, { ...options, fork: { run: first.runId } })).result;
    expect(fork.outcome).toBe('succeeded');
    expect(fork.state['steps.once.output']).toBe('done');
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('did\n');
  });

  it('asks what became of a command that failed and must not run twice', async () => {
    const { workflow, cwd } = await loadSteps(notation, "  - { id: once, run: [sh, -c, 'echo did >> log; exit 1'] }\n");
    const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true };
    const options = { audit: false, cwd, store: memoryStore(), models } as const;
    const first = await (await runWorkflow(workflow, options)).result;
    const second = await (await runWorkflow(workflow, { ...options, resume: first.runId })).result;
    expect([first.outcome, second.outcome]).toEqual(['failed', 'paused']);
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('did\n');
  });
});
