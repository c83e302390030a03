import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import type { WrittenFiles } from 'skein';
import { runWorkflow } from '../../src/runtime.js';
import { storeWith } from '../engine/recorded/in-process.js';
import { loadSteps, NOTATIONS } from '../tool-steps/support/both.js';
import { processOf, project } from './support/beside-planter.js';

/** A record of written files that outlives the process. */
function writtenFiles(): WrittenFiles {
  const programs = new Set<string>();
  return {
    note: (path, runs) => void (runs && programs.add(path)),
    has: () => false,
    hasName: () => false,
    planted: () => programs.size > 0,
  };
}

it('a command that is decided after a crash is asked about if a program was planted before it, wherever the process died', async () => {
  const cwd = project();
  const files = writtenFiles();
  const store = memoryStore();
  const first = processOf({ cwd, files, plants: true });
  first.play(store, { inputs: { task: 'Go.' }, runId: 'r' });
  await first.decided;
  const batches = store.read('r');
  expect(batches.length).toBeGreaterThan(5);
  for (let cut = 1; cut <= batches.length; cut += 1) {
    const second = processOf({ cwd, files, plants: false });
    const left = storeWith('r', batches.slice(0, cut), store);
    second.play(left, { resume: 'r' });
    await second.decided;
    // The session after that replays what was found.
    const third = processOf({ cwd, files: { ...files, planted: () => false }, plants: false });
    third.play(storeWith('r', left.read('r'), left), { resume: 'r' });
    await third.decided;
    expect([existsSync(join(cwd, 'ran.txt')), third.asked], `cut ${cut}`).toEqual([false, []]);
  }
});

it.each(NOTATIONS)(
  'a step of a %s runs no command that was planted while its run was interrupted',
  async (notation) => {
    const steps = "  - { id: tests, run: [sh, -c, 'echo ran >> log'], effect: idempotent }\n";
    const { workflow, cwd } = await loadSteps(notation, steps);
    const log = join(cwd, 'log');
    const models = { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true };
    const store = memoryStore();
    const { runId } = await (await runWorkflow(workflow, { audit: false, cwd, store, models })).result;
    const batches = store.read(runId);
    const made = batches.findIndex(({ text }) => text.includes('tests@tool#1.1'));
    expect(made).toBe(2);
    const planted = { note: () => undefined, has: () => false, hasName: () => false, planted: () => true };
    for (let cut = 1; cut <= made; cut += 1) {
      rmSync(log, { force: true });
      const left = storeWith(runId, batches.slice(0, cut), store);
      const again = { audit: false as const, cwd, store: left, models, resume: runId, writtenFiles: planted };
      const { outcome } = await (await runWorkflow(workflow, again)).result;
      expect([outcome, existsSync(log)], `cut ${cut}`).toEqual(['paused', false]);
    }
  },
);
