import { describe, expect, it } from 'vitest';
import type { Context } from 'skein/machine';
import { MAX_HISTORY, MachineContext, StateMachine } from 'skein/machine';
import { FakeClock } from 'skein/testing';
import { DRAFT, START, fire, machineOf, specOf } from './support/machines.js';
import { thrown } from '../thrown.js';

/** Steps of 1 ms, so that each transition has a time of its own. */
function looped(times: number, clock = new FakeClock()): StateMachine {
  const spec = specOf({ a: { Go: 'b' }, b: { Go: 'a' } });
  const machine = new StateMachine(spec, { clock });
  for (let at = 0; at < times; at++) {
    clock.advance(1);
    machine.setArtifact('n', String(at));
    machine.processEvent('Go');
  }
  return machine;
}

describe('the JSON of a context', () => {
  it('[18] has the keys of PromptKit, entries in order, times of RFC 3339', () => {
    const { machine, clock } = machineOf(DRAFT);
    machine.countToolCalls(2);
    machine.setArtifact('note', 'x');
    clock.advance(1_500);
    fire(machine, 'Submit');
    const timestamp = '2026-01-01T00:00:01.500Z';
    expect(JSON.stringify(machine.context(), undefined, 1)).toBe(
      JSON.stringify(
        {
          current_state: 'review',
          history: [{ from: 'draft', to: 'review', event: 'Submit', timestamp }],
          metadata: { 'skein.alive_ms': 1_500 },
          visit_counts: { draft: 1, review: 1 },
          total_tool_calls: 2,
          artifacts: { note: 'x' },
          artifact_history: [
            { from_state: 'draft', to_state: 'review', event: 'Submit', values: { note: 'x' }, timestamp },
          ],
          started_at: START,
          updated_at: timestamp,
        },
        undefined,
        1,
      ),
    );
  });

  it('[18] [decision 2] of PromptKit loads, and what it holds comes out as it was', () => {
    const time = '2026-03-01T10:00:00.123456789+01:00';
    const saved = {
      current_state: 'review',
      history: [{ from: 'draft', to: 'review', event: 'Submit', timestamp: time }],
      metadata: { host: { any: [1, null, 'thing'] } },
      visit_counts: { draft: 1, review: 1, gone: 4 },
      total_tool_calls: 7,
      artifacts: { note: 'x' },
      artifact_history: [
        { from_state: 'draft', to_state: 'review', event: 'Submit', values: { note: 'w' }, timestamp: time },
      ],
      started_at: '0001-01-01T00:00:00Z',
      updated_at: time,
    };
    const machine = StateMachine.restore(DRAFT, saved, { clock: new FakeClock() });
    expect(machine.context()).toStrictEqual(saved);
    expect(MachineContext.from({ ...saved, history: [], more: 1 }).toJSON()).toStrictEqual({ ...saved, history: [] });
  });

  it('[20] is a copy: nothing done to it, or to what was restored, reaches the machine', () => {
    const { machine } = machineOf(DRAFT);
    machine.setArtifact('note', 'x');
    fire(machine, 'Submit');
    const before = machine.context();
    const open = machine.context() as unknown as {
      history: { to: string }[];
      visit_counts: Record<string, number>;
      artifacts: Record<string, string>;
      artifact_history: { values: Record<string, string> }[];
    };
    const restored = StateMachine.restore(DRAFT, open as unknown as Context, { clock: new FakeClock() });
    open.history[0]!.to = 'gone';
    open.history.push({ to: 'more' });
    open.visit_counts['draft'] = 9;
    open.artifacts['note'] = 'changed';
    open.artifact_history[0]!.values['note'] = 'changed';
    machine.artifacts()['note'] = 'changed';
    expect(machine.context()).toStrictEqual(before);
    expect(restored.context()).toStrictEqual(before);
  });

  it('[20] metadata that is nested is copied too, and what is absent stays absent', () => {
    const saved = {
      current_state: 'draft',
      history: [],
      metadata: { a: { b: 1 } },
      started_at: START,
      updated_at: START,
    };
    const context = MachineContext.from(saved);
    saved.metadata.a.b = 2;
    const copy = context.clone();
    (copy.toJSON().metadata as typeof saved.metadata).a.b = 3;
    expect(copy.toJSON()).toStrictEqual({ ...saved, metadata: { a: { b: 1 } } });
    expect(Object.keys(context.toJSON())).toEqual(['current_state', 'history', 'metadata', 'started_at', 'updated_at']);
  });

  it('[20] an account that continues leaves its clone as it was', () => {
    const context = new MachineContext('a', 0);
    context.setArtifact('log', 'x', 'append');
    context.recordTransition('a', 'b', 'Go', 1);
    const copy = context.clone();
    context.setArtifact('log', 'y', 'append');
    context.recordTransition('b', 'a', 'Go', 2);
    context.incrementToolCalls(3);
    expect([copy.current_state, copy.getArtifact('log'), copy.transitionCount(), copy.totalVisits()]).toEqual([
      'b',
      'x',
      1,
      2,
    ]);
    expect(context.getArtifact('log')).toBe('xy');
  });

  it('[A1] answers what the source system answers of it', () => {
    const context = new MachineContext('a', 0);
    expect([context.lastTransition(), context.transitionCount(), context.totalVisits()]).toEqual([null, 0, 1]);
    context.recordTransition('a', 'b', 'Go', Date.parse(START));
    context.setArtifact('x', '1');
    context.setArtifact('x', '2', 'append');
    context.incrementToolCalls(2);
    expect(context.lastTransition()).toEqual({ from: 'a', to: 'b', event: 'Go', timestamp: START });
    expect([context.getArtifact('x'), context.getArtifact('y'), context.artifacts()]).toEqual(['12', '', { x: '12' }]);
    expect([context.visitsOf('b'), context.visitsOf('c'), context.totalToolCalls()]).toEqual([1, 0, 2]);
    expect(JSON.parse(JSON.stringify(context))).toEqual(context.toJSON());
  });
});

describe('histories', () => {
  it('[19] [decision 2] keep the newest 1,000, and the totals stay exact', () => {
    const machine = looped(2_500);
    const context = machine.context();
    expect([MAX_HISTORY, context.history.length, context.artifact_history?.length]).toEqual([1_000, 1_000, 1_000]);
    expect(context.history[0]?.timestamp).toBe('2026-01-01T00:00:01.501Z');
    expect(context.artifact_history?.map(({ values }) => values['n'])).toEqual(
      Array.from({ length: 1_000 }, (_, at) => String(at + 1_500)),
    );
    expect(context.visit_counts).toEqual({ a: 1_251, b: 1_250 });
    const account = MachineContext.from(context);
    expect([machine.transitionCount, account.transitionCount(), account.snapshotCount()]).toEqual([
      2_500, 2_500, 2_500,
    ]);
  });

  it('[19] [decision 2] totals go on after a restore', () => {
    const clock = new FakeClock();
    const machine = looped(1_200, clock);
    let context = machine.context();
    for (let at = 0; at < 3; at++) {
      const next = StateMachine.restore(machine.spec, JSON.parse(JSON.stringify(context)) as Context, { clock });
      next.processEvent('Go');
      context = next.context();
    }
    expect(MachineContext.from(context).transitionCount()).toBe(1_203);
    expect(context.metadata).toMatchObject({ 'skein.transitions': 1_203, 'skein.artifact_snapshots': 1_203 });
  });

  it('[19] a longer history of another program is cut to the newest', () => {
    const context = looped(1_000).context();
    const longer = { ...context, history: [...context.history, ...context.history] };
    const account = MachineContext.from(longer);
    expect([account.toJSON().history.length, account.transitionCount()]).toEqual([1_000, 2_000]);
    expect(account.toJSON().history.at(-1)).toEqual(context.history.at(-1));
  });
});

describe('a context that does not fit', () => {
  const GOOD = { current_state: 'draft', history: [], started_at: START, updated_at: START };

  it('[20] [A1] of a state that the spec does not have is refused', () => {
    const error = thrown(() => StateMachine.restore(DRAFT, { ...GOOD, current_state: 'drafts' }));
    expect([error.code, error.message, error.hint]).toEqual([
      'SKEIN_CONTEXT',
      'the context stands in state "drafts", not found in spec',
      'did you mean "draft"?',
    ]);
    const other = thrown(() => StateMachine.restore(DRAFT, { ...GOOD, current_state: 'triage_incoming' }));
    expect(other.hint).toBe(
      'is it the context of another pack, or has the state another name now? its states: draft, review, done',
    );
    for (const inherited of ['toString', '__proto__']) {
      expect(thrown(() => StateMachine.restore(DRAFT, { ...GOOD, current_state: inherited })).code).toBe(
        'SKEIN_CONTEXT',
      );
    }
  });

  it.each<[string, unknown, RegExp]>([
    ['is nothing', null, /must be an object, not null/],
    ['is a list', [], /must be an object, not a list/],
    ['is empty', {}, /current_state is missing; history is missing; started_at is missing; updated_at is missing/],
    ['has a history that is an object', { ...GOOD, history: {} }, /history must be a list, not an object/],
    [
      'has a transition without target',
      { ...GOOD, history: [{ from: 'a', event: 'E', timestamp: START }] },
      /history\[0\]\.to is missing/,
    ],
    [
      'counts a visit by half',
      { ...GOOD, visit_counts: { draft: 0.5 } },
      /visit_counts\["draft"\] must be a whole number of at least 0, not 0\.5/,
    ],
    ['counts calls below 0', { ...GOOD, total_tool_calls: -1 }, /total_tool_calls must be a whole number/],
    ['has an artifact that is a number', { ...GOOD, artifacts: { a: 1 } }, /artifacts\["a"\] must be a text, not 1/],
    ['has a snapshot without values', { ...GOOD, artifact_history: [{}] }, /artifact_history\[0\]\.values is missing/],
    [
      'has a time that is a number',
      { ...GOOD, updated_at: 5 },
      /updated_at must be a time such as "2027-01-31T12:00:00Z", not 5/,
    ],
    ['has a time without zone', { ...GOOD, started_at: '2026-01-01T00:00:00' }, /started_at must be a time/],
    ['has metadata that are not JSON', { ...GOOD, metadata: { a: () => 1 } }, /metadata must be JSON/],
    [
      'says wrongly how long it was alive',
      { ...GOOD, metadata: { 'skein.alive_ms': '5' } },
      /metadata\.skein\.alive_ms must be a number of at least 0/,
    ],
  ])('[A1] is refused with what is wrong: one that %s', (_, context, message) => {
    const error = thrown(() => MachineContext.from(context));
    expect([error.code, error.message]).toEqual(['SKEIN_CONTEXT', expect.stringMatching(message)]);
    expect(thrown(() => StateMachine.restore(DRAFT, context as Context)).code).toBe('SKEIN_CONTEXT');
  });
});
