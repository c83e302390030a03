import { describe, expect, test } from 'vitest';
import { runExample } from './support/run-example.js';

describe('simple-sequential', () => {
  test('hands each output to the next step and prints the last one only', async () => {
    const run = await runExample('simple-sequential');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.result.census).toMatchObject({ succeeded: 3, skipped: 0, failed: 0, notRun: 0 });
    expect(run.prompt('draft')).toContain(run.output('research'));
    expect(run.prompt('edit')).toContain(run.output('draft'));
    expect(run.output('edit')).toMatch(/^# Why a hash table/);
    expect(run.workflow.settings.output).toMatchObject({ nodes: ['edit'], format: 'markdown' });
    expect(run.workflow.settings.audit?.keep).toBe(5);
  });

  test('55, 104: takes the system prompts from agent files beside the workflow', async () => {
    const run = await runExample('simple-sequential');
    expect(run.system('research')).toMatch(/^You prepare explanations for newcomers\./);
  });

  test('fails under its strict script for a topic that the script does not know', async () => {
    const run = await runExample('simple-sequential', { inputs: { topic: 'tides' } });
    expect(run.result.outcome).toBe('failed');
    expect(run.result.error?.code).toBe('SKEIN_SCRIPT');
  });
});

describe('story-writer', () => {
  test('asks the client twice on the way down the chain', async () => {
    const run = await runExample('story-writer');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.result.census.succeeded).toBe(6);
    expect(run.tools('brief')).toEqual(['ask_user ok']);
    expect(run.tools('notes')).toEqual(['ask_user ok']);
    expect(run.tools('blurb')).toEqual([]);
  });

  test('decision 4: reads steps that are further up than its direct dependency', async () => {
    const run = await runExample('story-writer');
    expect(run.prompt('story')).toContain(run.output('brief'));
    expect(run.prompt('story')).toContain(run.output('draft'));
    expect(run.prompt('story')).toContain(run.output('notes'));
  });

  test('prints two steps, in an order of its own', async () => {
    const run = await runExample('story-writer');
    expect(run.workflow.settings.output.nodes).toEqual(['blurb', 'story']);
    expect(run.output('blurb')).toContain('The Hook');
  });
});
