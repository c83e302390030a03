import { describe, expect, test } from 'vitest';
import { runExample } from './support/run-example.js';
import type { ExampleRun } from './support/run-example.js';

/** What the person was understood to say. */
function answers(run: ExampleRun): readonly string[] {
  return run.events.flatMap((event) =>
    event.type === 'step.note' && event.note.kind === 'tool.ended' && event.note.tool === 'ask_user'
      ? [event.note.output]
      : [],
  );
}

describe('decision-helper', () => {
  test('decision 11: turns a typed number into the choice', async () => {
    const run = await runExample('decision-helper');
    expect(run.result.outcome).toBe('succeeded');
    expect(answers(run)).toEqual(['They fail and nobody sees why']);
    expect(run.prompt('recommendation')).toContain(run.output('for'));
    expect(run.prompt('recommendation')).toContain(run.output('against'));
    expect(run.workflow.settings.output).toMatchObject({ nodes: ['recommendation'], format: 'plain' });
  });

  test('takes an answer in other words as it is', async () => {
    const run = await runExample('decision-helper', { script: 'script-other.yaml' });
    expect(answers(run)).toEqual(['The person who wrote them is leaving']);
    expect(run.output('recommendation')).toContain('Recommendation: yes');
  });

  test('23: hears both sides at the same time', async () => {
    const { events } = await runExample('decision-helper');
    const at = (type: string, path: string): number =>
      events.findIndex((event) => event.type === type && event.path === path);
    expect(at('step.started', 'against')).toBeLessThan(at('step.ended', 'for'));
  });
});

describe('learning-path', () => {
  test('2: asks twice in one step and gives the numbers of its inputs as text', async () => {
    const run = await runExample('learning-path');
    expect(run.result.outcome).toBe('succeeded');
    expect(answers(run)).toEqual(['Sing from a sheet in a choir', 'I think it is a B']);
    expect(run.system('path')).toContain('There are 6 weeks with 3 hours each');
    expect(run.prompt('path')).toContain(run.output('assessment'));
  });
});

describe('post-writer', () => {
  test('makes a picture when the person wants one', async () => {
    const run = await runExample('post-writer');
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual([]);
    expect(run.prompt('post')).toContain('one screen on');
    expect(answers(run)).toEqual(['that nobody missed the night', 'Numbers', 'yes please']);
  });

  test('29: goes on without, a skipped step is empty text', async () => {
    const run = await runExample('post-writer', { script: 'script-other.yaml' });
    expect(run.result.outcome).toBe('succeeded');
    expect(run.skipped).toEqual(['image']);
    expect(run.prompt('post')).toMatch(/Picture:\n\s*$/);
    expect(answers(run)).toEqual(['that nobody missed the night', 'Lesson', 'No']);
  });
});
