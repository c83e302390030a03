import { describe, expect, test } from 'vitest';
import { formatCensus } from 'skein';
import { runExample } from './support/run-example.js';
import type { ExampleRun } from './support/run-example.js';

const asked = ({ events }: ExampleRun): readonly string[] =>
  events.flatMap((event) => (event.type === 'step.started' && event.kind === 'agent' ? [event.path] : []));

describe('triage-with-cases', () => {
  test.each([
    ['script.yaml', ['sort', 'reproduce', 'alarm', 'reply', 'thank'], 'succeeded'],
    ['script-calm.yaml', ['sort', 'reproduce', 'reply', 'thank'], 'skipped'],
    ['script-setup.yaml', ['sort', 'explain', 'reply', 'thank'], 'not_run'],
    ['script-praise.yaml', ['sort', 'thank'], undefined],
    ['script-other.yaml', ['sort', 'ask_back', 'reply', 'thank'], 'not_run'],
  ])('%s', async (script, steps, alarm) => {
    const run = await runExample('triage-with-cases', { script });
    expect([run.result.outcome, asked(run)]).toEqual(['succeeded', steps]);
    if (alarm !== undefined) expect(run.prompt('reply')).toContain(`The alarm was ${alarm}.`);
  });
});

describe('moderated-publishing', () => {
  test('goes on without the post that can not be judged, and tells it to the file that it calls', async () => {
    const run = await runExample('moderated-publishing');
    expect([run.result.outcome, run.result.census.degraded]).toEqual(['degraded', 1]);
    expect(run.result.state['steps.moderate.output']).toEqual([{ publish: true, reason: 'on topic' }]);
    expect(run.result.state['steps.publish.output']).toBe('# Digest');
  });

  test('is rejected, after a loop that reached its limit', async () => {
    const run = await runExample('moderated-publishing', { script: 'script-other.yaml' });
    expect([run.result.outcome, formatCensus(run.result.census)]).toEqual([
      'degraded',
      '8 succeeded, 1 limit reached, 2 skipped',
    ]);
    expect(run.skipped).toEqual(['cool', 'publish']);
  });
});
