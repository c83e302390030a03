import { describe, expect, test } from 'vitest';
import { runExample } from './support/run-example.js';
import type { ExampleRun } from './support/run-example.js';

const asked = ({ events }: ExampleRun): readonly string[] =>
  events.flatMap((event) => (event.type === 'step.started' && event.kind === 'agent' ? [event.path] : []));

describe('release-with-a-gate', () => {
  test('is revised once by the words of the person, and then released', async () => {
    const run = await runExample('release-with-a-gate');
    expect([run.result.outcome, asked(run)]).toEqual(['succeeded', ['check', 'notes', 'notes#2', 'post']]);
    expect(run.prompt('notes#2')).toContain('three words at most');
    expect(run.result.state['steps.gate.output']).toEqual({ choice: 'release' });
  });

  test('ends well where the person stops it, and as failed where the change is not safe', async () => {
    const stopped = await runExample('release-with-a-gate', { script: 'script-other.yaml' });
    expect([stopped.result.outcome, asked(stopped)]).toEqual(['succeeded', ['check', 'notes']]);
    const unsafe = await runExample('release-with-a-gate', { script: 'script-unsafe.yaml' });
    expect([unsafe.result.outcome, unsafe.result.error?.code, unsafe.result.error?.message]).toEqual([
      'failed',
      'SKEIN_ENDED',
      'The change is not safe: it holds the key of the shop',
    ]);
  });
});

describe('fan-out-with-require', () => {
  test.each([
    ['script.yaml', 'succeeded', 5],
    ['script-two.yaml', 'degraded', 5],
    ['script-one.yaml', 'failed', 4],
  ])('%s', async (script, outcome, agents) => {
    const run = await runExample('fan-out-with-require', { script });
    expect([run.result.outcome, asked(run).length]).toEqual([outcome, agents]);
    expect(run.result.error?.code).toBe(outcome === 'failed' ? 'SKEIN_REQUIRE' : undefined);
  });
});

describe('cleanup', () => {
  test.each([
    ['script.yaml', 'succeeded', ['book', 'report', 'finally/release']],
    ['script-failed.yaml', 'failed', ['book', 'report', 'finally/release', 'finally/tell']],
  ])('%s gives the room back', async (script, outcome, steps) => {
    const run = await runExample('cleanup', { script });
    expect([run.result.outcome, asked(run)]).toEqual([outcome, steps]);
  });
});
