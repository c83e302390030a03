import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Longer than the files wait for their event. */
const OVERDUE_MS = 120;

const pipeline = (time: string): string => `agents: { a: { instruction: x } }
workflow:
  - { id: paid, type: wait, event: payment, for: ${time}, on_error: continue }
  - type: condition
    cases: [{ when: '{{ $steps.paid.status == "timed_out" }}', steps: [{ id: late, type: agent, name: a, prompt: Remind them., context: none }] }]
    else: [{ id: ship, type: agent, name: a, prompt: "Ship for {{ $steps.paid.output.amount }}.", context: none }]
`;
const dag = (time: string): string => `name: d
agents: { a: { inline: { prompt: x, tools: [] } } }
steps:
  - { id: paid, type: wait, event: payment, for: ${time}, on_error: continue }
  - { id: late, agent: a, depends_on: [paid], condition: { cel: 'steps.paid.status == "timed_out"' }, prompt: Remind them. }
  - { id: ship, agent: a, depends_on: [paid], condition: { cel: 'steps.paid.status == "succeeded"' }, prompt: "Ship for {{steps.paid.output.amount?}}." }
`;

describe.each([
  ['pipeline', pipeline],
  ['DAG', dag],
])('an outside event that a %s waits for, on the command line', (_notation, file) => {
  const started = async (time: string): Promise<{ readonly cwd: string; readonly run: string }> => {
    const cwd = await makeProject({ 'flow.yaml': file(time) });
    const end = await served(['run', 'flow.yaml', '--mock', '--no-audit', '--json'], { cwd });
    expect([end.code, documentOf(end).outcome]).toEqual([5, 'paused']);
    return { cwd, run: String(documentOf(end).runId) };
  };

  test('that does not come in time leads to the way of an overdue one, when the run is resumed', async () => {
    const { cwd, run } = await started('50ms');
    await passed(OVERDUE_MS);
    const late = await served(['answer', run, 'payment', '{"amount": 40}'], { cwd });
    expect([late.code, late.stderr], late.stderr).toEqual([2, expect.stringContaining('SKEIN_ANSWER')]);
    const end = await served(['resume', run, '--json'], { cwd });
    expect([end.code, documentOf(end).outcome]).toEqual([0, 'degraded']);
    expect(documentOf(end).steps).toMatchObject({
      paid: { status: 'timed_out' },
      late: { status: 'succeeded', output: 'Remind them.' },
    });
    expect((await served(['resume', run, '--strict'], { cwd })).code).toBe(4);
  });

  test('that comes in time leads to the other one', async () => {
    const { cwd, run } = await started('1h');
    expect((await served(['resume', run], { cwd })).code).toBe(5);
    expect((await served(['answer', run, 'payment', '{"amount": 40}'], { cwd })).code).toBe(0);
    const end = await served(['resume', run, '--json'], { cwd });
    expect([end.code, documentOf(end).outcome]).toEqual([0, 'succeeded']);
    expect(documentOf(end).steps).toMatchObject({ ship: { status: 'succeeded', output: 'Ship for 40.' } });
  });
});
