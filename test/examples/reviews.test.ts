import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { ExampleRun } from './support/run-example.js';
import { exampleFile, runExample } from './support/run-example.js';

/** How many model calls were open at the same time, at most. */
function mostAtOnce(run: ExampleRun): number {
  let now = 0;
  let most = 0;
  for (const event of run.events) {
    if (event.type === 'step.started') most = Math.max(most, (now += 1));
    if (event.type === 'step.ended' && event.outcome !== 'skipped') now -= 1;
  }
  return most;
}

describe('code-review', () => {
  test('103: takes the branch with changes; the skipped branch leaves the run succeeded', async () => {
    const run = await runExample('code-review');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['approval']);
    expect(run.result.steps[0]?.reason).toContain('VERDICT: CHANGES');
    expect(run.output('report')).toContain('query parameter');
  });

  test('takes the other branch, and is degraded by the reviewer who fails', async () => {
    const run = await runExample('code-review', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('degraded');
    expect(run.result.census).toMatchObject({ succeeded: 6, degraded: 1, skipped: 1 });
    expect(run.skipped).toEqual(['fixes']);
    expect(run.prompt('verdict')).toMatch(/## Tests\n\n/);
    expect(run.output('report')).toMatch(/^Approved\./);
  });

  test('its script fits any diff', async () => {
    const diff = await readFile(exampleFile('code-review', 'sample.diff'), 'utf8');
    const run = await runExample('code-review', { inputs: { diff, intent: 'coupons' } });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.prompt('security')).toContain(diff);
    expect(run.system('verdict')).toContain('which is meant to do this: coupons');
  });

  test('38: never expands what stands in the diff', async () => {
    const run = await runExample('code-review', { inputs: { diff: '+ {{inputs.intent}} {{steps.report.output}}' } });
    expect(run.prompt('summary')).toContain('+ {{inputs.intent}} {{steps.report.output}}');
  });

  test('82, 98: puts the memory in front of each prompt, with what reviewers added to it', async () => {
    const run = await runExample('code-review');
    expect(run.prompt('summary')).toMatch(/^## Shared Memory \(Current State\)\nRules of this review:/);
    expect(run.prompt('verdict')).toContain('correctness: a cart with free items counts as empty');
    expect(run.prompt('verdict')).toContain('security: the coupon code goes into a query unescaped');
  });

  test('24, 46: cuts outputs that go into prompts to 2000 characters and runs three steps at once', async () => {
    const run = await runExample('code-review');
    const verdict = run.workflow.plan?.nodes.find((node) => node.id === 'verdict');
    const refs = verdict?.kind === 'agent' ? verdict.prompt.filter((piece) => typeof piece !== 'string') : [];
    expect(refs.map((ref) => ('truncate' in ref ? ref.truncate : undefined))).toEqual(
      Array.from({ length: 3 }, () => ({ strategy: 'chars', limit: 2000 })),
    );
    expect(run.workflow.plan?.limits?.concurrency).toBe(3);
    expect(mostAtOnce(run)).toBe(3);
    expect(run.workflow.settings.output.nodes).toEqual(['summary', 'verdict', 'report']);
  });
});

describe('security-scan', () => {
  test('decision 3: runs the scans that the survey asks for, and goes on when one fails', async () => {
    const run = await runExample('security-scan');
    expect(run.result.outcome).toBe('degraded');
    expect(run.result.census).toMatchObject({ succeeded: 6, degraded: 1, failed: 0, skipped: 1 });
    expect(run.skipped).toEqual(['container']);
    expect(run.output('dependencies')).toBe('');
    expect(run.output('remediation')).toContain('server.py');
  });

  test('reads the sample with real tools', async () => {
    const run = await runExample('security-scan');
    expect(run.tools('survey').toSorted()).toEqual(['list_dir ok', 'read_file ok']);
    expect(run.tools('secrets').toSorted()).toEqual(['grep ok', 'read_file ok']);
    const found = run.events.flatMap((event) =>
      event.path === 'injection' && event.type === 'step.note' && event.note.kind === 'tool.ended'
        ? [event.note.output]
        : [],
    );
    expect(found[0]).toContain('shell=True');
  });

  test('runs one scan and plans no repair when nothing is found', async () => {
    const run = await runExample('security-scan', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['secrets', 'injection', 'dependencies', 'access', 'remediation']);
    expect(run.output('findings')).toContain('OPEN: 0');
  });

  test('decision 9: gives each scanner the skill of the workflow and its own', async () => {
    const run = await runExample('security-scan');
    expect(run.system('secrets')).toContain('# Writing down a finding');
    expect(run.system('secrets')).toContain('# Finding credentials');
    expect(run.system('secrets')).not.toContain('# Following outside text');
  });
});

describe('guided-code-review', () => {
  test('asks before and after the review, and plans what was chosen', async () => {
    const run = await runExample('guided-code-review');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.tools('goal').toSorted()).toEqual(['ask_user ok', 'glob ok', 'read_file ok']);
    expect(run.tools('choice')).toEqual(['ask_user ok']);
    expect(run.skipped).toEqual([]);
    expect(run.prompt('choice')).toContain(run.output('mistakes'));
    expect(run.prompt('choice')).toContain(run.output('clarity'));
  });

  test('plans nothing when the author wants nothing', async () => {
    const run = await runExample('guided-code-review', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['plan']);
  });
});
