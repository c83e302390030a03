import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runWorkflow } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import { makeProject } from '../cli/support/skein.js';

/** Files that are written now, and at most. */
const writing = vi.hoisted(() => ({ now: 0, most: 0, last: '', broken: '' }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<{ writeFile: (...args: unknown[]) => Promise<void> }>();
  return {
    ...original,
    writeFile: async (path: unknown, ...rest: unknown[]) => {
      if (writing.broken !== '' && String(path).includes(writing.broken)) throw new Error('the disk is broken');
      writing.now += 1;
      writing.most = Math.max(writing.most, writing.now);
      writing.last = String(path);
      await original.writeFile(path, ...rest);
      writing.now -= 1;
    },
  };
});

const STEPS = 300;
const TEXT = [
  'name: many',
  'agents: {a: {inline: {description: Answers., prompt: Hello.}}}',
  'steps:',
  ...Array.from({ length: STEPS }, (_, at) => `  - {id: s${at}, agent: a, prompt: "Say ${at}."}`),
].join('\n');

async function audited(): Promise<{ readonly folder: string; readonly failures: readonly string[] }> {
  const cwd = await makeProject();
  const workflow = await loadWorkflowText(TEXT, { cwd });
  const { result } = await runWorkflow(workflow, { cwd, models: { mock: true }, audit: { dir: join(cwd, 'audit') } });
  const { outcome, auditFolder = '', auditFailures } = await result;
  expect(outcome).toBe('succeeded');
  return { folder: auditFolder, failures: auditFailures };
}

test('[XF12] folders of many steps are written side by side, and all are complete when the run has ended', async () => {
  const { folder, failures } = await audited();
  expect(failures).toEqual([]);
  expect(writing.most).toBeGreaterThan(1);
  expect(writing.now).toBe(0);
  // The mark of the end is made when everything else is there.
  expect(writing.last).toContain('.skein-run');
  const steps = await readdir(join(folder, 'steps'));
  expect(steps.length).toBe(STEPS);
  for (const step of steps) {
    const meta = JSON.parse(await readFile(join(folder, 'steps', step, 'step.meta.json'), 'utf8')) as object;
    expect(meta).toMatchObject({ status: 'completed', output_file: 'output.md' });
  }
});

test('[XF12] what a broken disk keeps from being written is reported at the end, and nothing else is lost', async () => {
  writing.broken = '00_s7/';
  const { folder, failures } = await audited();
  writing.broken = '';
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.every((line) => line.includes('00_s7/') && line.includes('the disk is broken'))).toBe(true);
  const meta = await readFile(join(folder, 'steps', '00_s8', 'step.meta.json'), 'utf8');
  expect(meta).toContain('"completed"');
});
