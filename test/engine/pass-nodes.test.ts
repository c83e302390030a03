import { describe, expect, test } from 'vitest';
import type { Condition } from '../../src/lang/values.js';
import type { PassNode, Plan, PlanNode } from '../../src/plan/plan.js';
import { checkPlan } from '../../src/plan/checks.js';
import { logs, outcomes, plan, run, task } from './plans.js';

const LOG = ['log:append', 'n:add', 'verdict'];
const pass = (id: string, more: Partial<PassNode> = {}): PlanNode => ({ ...more, kind: 'pass', id });
const approved: Condition = { op: 'truthy', value: { channel: 'verdict' }, text: '$steps.qa.output' };

/** A draft that is written again until it is approved: `jump` is the way back. */
function loop(jump: PlanNode) {
  return plan({
    nodes: ['write', task('qa', { output: 'verdict' }), pass('check'), jump, 'publish'],
    edges: ['write>qa', 'qa>check', `${jump.id}>write`],
    routes: [{ from: 'check', cases: [{ when: [approved], to: ['publish'] }], otherwise: [jump.id] }],
    entry: 'write',
    channels: LOG,
  });
}

function approvesAt(round: number): Record<string, unknown> {
  let rounds = 0;
  const qa = (): string => ((rounds += 1) >= round ? 'yes' : 'no');
  return { write: logs('write'), qa, publish: logs('publish') };
}

describe('a node that does nothing', () => {
  test('lets paths part by its route, meet, and go on; it writes nothing and is no work', async () => {
    const parting = plan({
      nodes: [task('qa', { output: 'verdict' }), pass('check'), 'good', 'bad', pass('meet'), 'end'],
      edges: ['qa>check', 'good>meet', 'bad>meet', 'meet>end'],
      routes: [{ from: 'check', cases: [{ when: [approved], to: ['good'] }], otherwise: ['bad'] }],
      channels: LOG,
    });
    expect(checkPlan(parting)).toEqual([]);
    const bindings = { qa: () => 'yes', good: logs('good'), bad: logs('bad'), end: logs('end') };
    const { result, events } = await run(parting, bindings, { concurrency: 1 });
    expect(result.state).toEqual({ verdict: 'yes', log: ['good', 'end'] });
    expect(outcomes(result)).toEqual({ bad: 'skipped' });
    expect([result.census.succeeded, result.ran]).toEqual([3, 3]);
    expect(events.find((event) => event.type === 'step.ended' && event.node === 'meet')).toMatchObject({
      kind: 'pass',
      outcome: 'succeeded',
      update: {},
    });
  });

  test('starts a plan, ends one, is skipped by a condition or a dead path, and may be the whole plan', async () => {
    const only = await run(plan({ nodes: [pass('p')] }), {});
    expect([only.result.outcome, only.result.state]).toEqual(['succeeded', {}]);
    const never: Condition = { op: 'equals', value: { channel: 'verdict' }, operand: ['never'] };
    const skipped = plan({
      nodes: [pass('start'), pass('p', { when: [never] }), pass('q'), 'after'],
      edges: ['start>p', 'p>q', 'q>after'],
      channels: LOG,
    });
    const { result } = await run(skipped, { after: logs('after') });
    expect(outcomes(result)).toEqual({ p: 'skipped', q: 'skipped', after: 'skipped' });
  });

  test('jumps back along a static edge, and each round is a visit', async () => {
    const { result, started } = await run(loop(pass('again')), approvesAt(3));
    expect(checkPlan(loop(pass('again')))).toEqual([]);
    expect(result.state.log).toEqual(['write', 'write', 'write', 'publish']);
    expect(started.filter((node) => node === 'again')).toHaveLength(2);
    expect(outcomes(result)).toEqual({ 'again#3': 'skipped' });
  });

  test('a hundred thousand of them in a circle end at the cap, without a deep stack', async () => {
    const circle = plan({
      nodes: [pass('a'), pass('b', { maxVisits: 50_000, onMaxVisits: 'skip' })],
      edges: ['b>a'],
      routes: [{ from: 'a', cases: [{ when: [], to: ['b'] }] }],
      entry: 'a',
      limits: { maxSteps: 200_000 },
    });
    const { result } = await run(circle, {});
    expect([result.outcome, result.census.succeeded]).toEqual(['succeeded', 0]);
  });

  test('a route that can not be evaluated fails it', async () => {
    const { result } = await run(
      plan({
        nodes: [pass('check'), 'next'],
        routes: [{ from: 'check', cases: [{ when: [approved], to: ['next'] }] }],
        channels: LOG,
      }),
      { next: logs('next') },
    );
    expect(result.error).toMatchObject({
      code: 'SKEIN_TEMPLATE',
      message: 'workflow: condition did not resolve to boolean: "$steps.qa.output"',
    });
    expect(outcomes(result)).toEqual({ check: 'failed' });
  });
});

describe('a cap of visits with a message', () => {
  const fail = 'workflow: max loop iterations exceeded (step: write, limit: 2)';

  test('so many visits succeed, and the next one ends the run with exactly that message', async () => {
    const capped = loop(pass('again', { maxVisits: 2, onMaxVisits: { fail } }));
    expect(checkPlan(capped)).toEqual([]);
    const enough = await run(capped, approvesAt(3));
    expect(enough.result.outcome).toBe('succeeded');
    const { result } = await run(capped, approvesAt(4));
    expect(result.outcome).toBe('failed');
    expect(result.error).toEqual({ code: 'SKEIN_MAX_VISITS', message: fail });
    expect(result.state.log).toEqual(['write', 'write', 'write']);
  });

  test('and with its hint, when it has one', async () => {
    const capped = loop(pass('again', { maxVisits: 1, onMaxVisits: { fail, hint: 'look at the text' } }));
    expect(checkPlan(capped)).toEqual([]);
    const { result } = await run(capped, approvesAt(9));
    expect(result.error).toEqual({ code: 'SKEIN_MAX_VISITS', message: fail, hint: 'look at the text' });
    const wrong = JSON.parse(JSON.stringify(capped).replace('"look at the text"', '3')) as Plan;
    const [problem] = checkPlan(wrong);
    expect(problem?.code).toBe('bad-plan');
    expect(problem?.message).toContain('hint must be text');
  });

  test('whatever `onError` says', async () => {
    for (const onError of ['ignore', 'continue'] as const) {
      const capped = loop(pass('again', { maxVisits: 1, onMaxVisits: { fail }, onError }));
      const { result } = await run(capped, approvesAt(9));
      expect(result.error).toEqual({ code: 'SKEIN_MAX_VISITS', message: fail });
    }
  });
});
