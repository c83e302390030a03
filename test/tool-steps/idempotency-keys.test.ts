import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { runWorkflow } from '../../src/runtime.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { programOf } from '../programs.js';
import { NOTATIONS, loadSteps, runSteps } from './support/both.js';

const SERVER = await programOf(resolve(import.meta.dirname, '../agent/support/mcp-tool-server.ts'));
const HEAD = `mcps: { kit: { command: node, args: [${JSON.stringify(SERVER)}, tools=key] } }\n`;
/** Writes its key down, and gives it. */
const COMMAND = `run: [sh, -c, 'echo "$SKEIN_IDEMPOTENCY_KEY" | tee -a keys'], effect: idempotent`;

describe.each(NOTATIONS)('[J6] the idempotency key of steps without a model, in a %s', (notation) => {
  const after = notation === 'dag' ? 'depends_on: [one], ' : '';

  it('stays the same when a call is repeated after a crash, and differs between calls', async () => {
    const steps = `  - { id: one, ${COMMAND} }\n  - { id: two, ${after}${COMMAND} }\n`;
    const { workflow, cwd } = await loadSteps(notation, steps);
    const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true };
    const options = { audit: false, cwd, models } as const;
    const store = memoryStore();
    const { runId } = await (await runWorkflow(workflow, { ...options, store })).result;
    const written = (): readonly string[] =>
      existsSync(join(cwd, 'keys')) ? readFileSync(join(cwd, 'keys'), 'utf8').trimEnd().split('\n') : [];
    const keys = written();
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{22}$/), expect.stringMatching(/^[\w-]{22}$/)]);
    expect(new Set(keys).size).toBe(2);
    const cut = prefixesOf(runId, store.read(runId)).filter(
      ({ name, lines }) => !name.endsWith('torn') && lines.at(-1)?.includes('"t":"start"'),
    );
    expect(cut).toHaveLength(2);
    for (const [at, { batches }] of cut.entries()) {
      rmSync(join(cwd, 'keys'));
      const resumed = await runWorkflow(workflow, {
        ...options,
        store: storeWith(runId, batches, store),
        resume: runId,
      });
      expect((await resumed.result).outcome).toBe('succeeded');
      expect(written()).toEqual(keys.slice(at));
    }
  });

  it('stays the same when a failed command is repeated', async () => {
    const command = `[sh, -c, 'echo "$SKEIN_IDEMPOTENCY_KEY" >> keys; test $(wc -l < keys) -ge 3']`;
    const retry =
      notation === 'dag'
        ? 'retry_count: 2, on_error: retry'
        : 'retry: { max_attempts: 2, on: [ended with], initial_delay: 1ms }';
    const { outcome, cwd, error } = await runSteps(notation, `  - { id: one, run: ${command}, ${retry} }\n`);
    expect([outcome, error]).toEqual(['succeeded', undefined]);
    const keys = readFileSync(join(cwd, 'keys'), 'utf8').trimEnd().split('\n');
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it('reaches the server of a tool', async () => {
    const { workflow, cwd } = await loadSteps(notation, '  - { id: one, tool: kit/key, effect: idempotent }\n', {
      head: HEAD,
    });
    const run = await runWorkflow(workflow, {
      audit: false,
      cwd,
      models: { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true },
      answer: () => Promise.resolve('allow'),
    });
    const { outcome, state } = await run.result;
    expect([outcome, state['steps.one.output']]).toEqual(['succeeded', expect.stringMatching(/^[\w-]{22}$/)]);
  });
});
