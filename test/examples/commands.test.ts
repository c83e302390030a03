import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { served } from '../cli/support/served.js';
import { ROOT, exampleFile, runExample } from './support/run-example.js';
import type { ExampleRun } from './support/run-example.js';

/** The paths of steps that ran, in the order in which they started. */
function started(run: ExampleRun): readonly string[] {
  return run.events.flatMap((event) => (event.type === 'step.started' ? [event.path] : []));
}

describe('fix-until-tests-pass', () => {
  test('mends what the tests complain about, and ends when they pass', async () => {
    const run = await runExample('fix-until-tests-pass');
    expect(run.result.outcome).toBe('succeeded');
    expect(started(run).filter((path) => /^(tests|fix|report)/.test(path))).toEqual([
      'tests',
      'fix',
      'tests#2',
      'report',
    ]);
    expect(run.prompt('fix')).toContain('exit code 1');
    expect(run.output('report')).toContain('begins at 0');
  });

  test('asks nobody to mend what is not broken', async () => {
    const run = await runExample('fix-until-tests-pass', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.result.census.succeeded).toBe(2);
  });

  test('gives up after three repairs', async () => {
    const run = await runExample('fix-until-tests-pass', { script: 'script-limit.yaml' });
    expect(run.result.outcome).toBe('failed');
    expect(started(run).filter((path) => path.startsWith('fix'))).toHaveLength(4);
  });
});

test('plans and drawings show the commands and calls of steps', async () => {
  const plan = await served(['plan', exampleFile('nightly-report')], { cwd: ROOT });
  expect(plan.stdout).toContain('commits (runs git log --since={{inputs.since}} "--format=%h %an: %s")');
  expect(plan.stdout).toContain('save (calls write_file)');
  const drawing = await served(['graph', exampleFile('fix-until-tests-pass')], { cwd: ROOT });
  expect(drawing.stdout).toContain('runs node --test');
});

describe('nightly-report', () => {
  test('writes down what commands found, and saves it', async () => {
    const run = await runExample('nightly-report');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.prompt('report')).toContain('1a2b3c4 Ada: Loom counts threads');
    expect(run.output('save')).toBe('written');
    expect(existsSync(join(ROOT, 'nightly-report.md'))).toBe(false);
  });

  test('asks no model on a day without commits', async () => {
    const run = await runExample('nightly-report', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['report', 'save']);
  });
});

describe('batch-over-files', () => {
  test('reads real files where its script lets it, each in a way of its own', async () => {
    const run = await runExample('batch-over-files', { inputs: { prompt: 'examples/batch-over-files/texts' } });
    expect([run.result.outcome, run.result.error]).toEqual(['succeeded', undefined]);
    expect(run.result.state['steps.files.output']).toEqual(['kiln.txt', 'loom.txt', 'mill.txt']);
    expect(run.output('table')).toContain('| loom | weaves cloth |');
  });

  test('leaves out a file that fails, and says that the run is degraded', async () => {
    const run = await runExample('batch-over-files', { script: 'script-other.yaml', inputs: { prompt: 'anywhere' } });
    expect(run.result.outcome).toBe('degraded');
    expect(run.result.state['steps.each.output']).toEqual(['b - a text']);
  });
});
