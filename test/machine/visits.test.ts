import { describe, expect, it } from 'vitest';
import { BudgetExhaustedError, MaxVisitsExceededError, StateMachine } from 'skein/machine';
import { fire, machineOf, specOf } from './support/machines.js';
import { thrown } from '../thrown.js';

describe('max_visits', () => {
  it('[8] counts entries, the first one too: an entry state with 3 allows two loops and redirects the third', () => {
    const { machine } = machineOf(
      specOf({
        draft: { max_visits: 3, on_max_visits: 'done', on_event: { Again: 'draft' } },
        done: { terminal: true },
      }),
    );
    expect(machine.processEvent('Again').to).toBe('draft');
    expect(machine.processEvent('Again').to).toBe('draft');
    expect(machine.processEvent('Again')).toStrictEqual({
      from: 'draft',
      to: 'done',
      event: 'Again',
      redirected: true,
      redirect_reason: 'max_visits (3) reached for "draft"',
      original_target: 'draft',
    });
  });

  it('[9] a redirect counts for where it leads, and not for the full state', () => {
    const { machine } = machineOf(
      specOf({
        a: { Go: 'b' },
        b: { max_visits: 1, on_max_visits: 'c', on_event: { Back: 'a' } },
        c: { terminal: true },
      }),
    );
    fire(machine, 'Go', 'Back', 'Go');
    expect(machine.context()).toMatchObject({ current_state: 'c', visit_counts: { a: 2, b: 1, c: 1 } });
  });

  it('[5] [9] without redirect the event is refused by an exact text, and the machine stays usable', () => {
    const { machine } = machineOf(
      specOf({
        plan: { Research: 'research', Stop: 'done' },
        research: { max_visits: 3, on_event: { Back: 'plan' } },
        done: {},
      }),
    );
    for (let at = 0; at < 3; at++) fire(machine, 'Research', 'Back');
    const error = thrown(() => machine.processEvent('Research'));
    expect(error).toBeInstanceOf(MaxVisitsExceededError);
    expect([error.code, error.message, error.hint]).toEqual([
      'SKEIN_STATE_VISITS',
      'max visits exceeded: state "research" visited 3 times (max 3)',
      'these events work: Stop',
    ]);
    const facts = {
      state: 'research',
      visit_count: 3,
      max_visits: 3,
      original_target: 'research',
      redirects: [],
      working_events: ['Stop'],
    };
    expect(error).toMatchObject(facts);
    expect(error.details).toEqual(facts);
    expect(machine.processEvent('Stop').to).toBe('done');
  });

  it('[decision 4] no event that works is left when all lead to full states', () => {
    const { machine } = machineOf(
      specOf({
        a: { max_visits: 1, on_event: { Again: 'a', Go: 'b' } },
        b: { max_visits: 1, on_event: { Back: 'a', Again: 'b' } },
      }),
    );
    fire(machine, 'Go');
    for (const event of ['Back', 'Again']) {
      expect(thrown(() => machine.processEvent(event))).toMatchObject({
        working_events: [],
        hint: 'no event of the state works',
      });
    }
    expect(machine.currentState).toBe('b');
  });

  it('[10] [decision 5] redirects are followed along the chain', () => {
    const { machine } = machineOf(
      specOf({
        a: { B: 'b', C: 'c' },
        b: { max_visits: 1, on_max_visits: 'c', on_event: { Back: 'a' } },
        c: { max_visits: 1, on_max_visits: 'd', on_event: { Back: 'a' } },
        d: { terminal: true },
      }),
    );
    fire(machine, 'B', 'Back', 'C', 'Back');
    expect(machine.processEvent('B')).toMatchObject({
      to: 'd',
      redirect_reason: 'max_visits (1) reached for "b", max_visits (1) reached for "c"',
      original_target: 'b',
    });
    expect(machine.context().visit_counts).toEqual({ a: 3, b: 1, c: 1, d: 1 });
  });

  it('[10] the end of a chain that is full without redirect is what the error names', () => {
    const { machine } = machineOf(
      specOf({
        a: { B: 'b', C: 'c' },
        b: { max_visits: 1, on_max_visits: 'c', on_event: { Back: 'a' } },
        c: { max_visits: 1, on_event: { Back: 'a' } },
      }),
    );
    fire(machine, 'B', 'Back', 'B', 'Back');
    const error = thrown(() => machine.processEvent('B'));
    expect(error.message).toBe('max visits exceeded: state "c" visited 1 times (max 1)');
    expect(error).toMatchObject({ original_target: 'b', redirects: [], working_events: [] });
  });

  it('[10] [decision 5] a loop of full states is an error that shows the loop', () => {
    const { machine } = machineOf(
      specOf({
        a: { B: 'b', C: 'c' },
        b: { max_visits: 1, on_max_visits: 'c', on_event: { Back: 'a' } },
        c: { max_visits: 1, on_max_visits: 'b', on_event: { Back: 'a' } },
      }),
    );
    fire(machine, 'B', 'Back', 'C', 'Back');
    const before = machine.context();
    const error = thrown(() => machine.processEvent('B'));
    expect(error).toBeInstanceOf(MaxVisitsExceededError);
    expect(error.message).toBe(
      'max visits exceeded: state "b" visited 1 times (max 1), and its redirects form a loop: b -> c -> b',
    );
    expect(error).toMatchObject({ redirects: ['b', 'c', 'b'], original_target: 'b' });
    expect(machine.context()).toStrictEqual(before);
  });

  it('[10] [decision 5] a state that redirects to itself ends there, and is not entered without limit', () => {
    const { machine } = machineOf(specOf({ a: { max_visits: 2, on_max_visits: 'a', on_event: { Again: 'a' } } }));
    fire(machine, 'Again');
    const error = thrown(() => machine.processEvent('Again'));
    expect(error.message).toMatch(/redirects form a loop: a -> a$/);
    expect(machine.context().visit_counts).toEqual({ a: 2 });
  });

  it('[10] a redirect to a state that the spec does not have is refused', () => {
    const { machine } = machineOf(specOf({ a: { max_visits: 1, on_max_visits: 'x', on_event: { Again: 'a' } } }));
    expect(thrown(() => machine.processEvent('Again')).message).toBe(
      'invalid event for current state: state "x" not found in spec',
    );
  });

  it('[11] 0 and nothing are no bound', () => {
    for (const bound of [{ max_visits: 0 }, {}]) {
      const { machine } = machineOf(specOf({ a: { ...bound, on_event: { Again: 'a' } } }));
      for (let at = 0; at < 50; at++) fire(machine, 'Again');
      expect(machine.context().visit_counts).toEqual({ a: 51 });
    }
  });
});

describe('the budget', () => {
  const LOOP = { a: { Go: 'b', Stop: 'end' }, b: { Go: 'a' }, end: { terminal: true } };

  it('[12] max_total_visits of N allows N - 1 transitions, 1 allows none', () => {
    for (const most of [1, 2, 5]) {
      const { machine } = machineOf(specOf(LOOP, { engine: { budget: { max_total_visits: most } } }));
      for (let at = 1; at < most; at++) fire(machine, 'Go');
      const error = thrown(() => machine.processEvent('Go'));
      expect(error).toBeInstanceOf(BudgetExhaustedError);
      expect([error.code, error.message]).toEqual([
        'SKEIN_BUDGET',
        `workflow budget exhausted: max_total_visits ${most} reached limit ${most}`,
      ]);
    }
  });

  it('[12] a redirect is one visit', () => {
    const { machine } = machineOf(
      specOf(
        { a: { max_visits: 1, on_max_visits: 'b', on_event: { Go: 'a' } }, b: { Go: 'b' } },
        { engine: { budget: { max_total_visits: 3 } } },
      ),
    );
    fire(machine, 'Go', 'Go');
    expect(machine.context().visit_counts).toEqual({ a: 1, b: 2 });
    expect(machine.exhaustedBudget()?.limit).toBe('max_total_visits');
  });

  it('[5] [13] max_tool_calls counts the calls that are reported', () => {
    const { machine } = machineOf(specOf(LOOP, { engine: { budget: { max_tool_calls: 10 } } }));
    machine.countToolCalls(4);
    fire(machine, 'Go');
    machine.countToolCalls(0);
    machine.countToolCalls(6);
    const error = thrown(() => machine.processEvent('Go'));
    expect(error.message).toBe('workflow budget exhausted: max_tool_calls 10 reached limit 10');
    expect(error).toMatchObject({ limit: 'max_tool_calls', current: 10, max: 10, state: 'b' });
    expect(error.details).toEqual({ limit: 'max_tool_calls', current: 10, max: 10, state: 'b' });
    expect(machine.context().total_tool_calls).toBe(10);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3'])('[13] calls are not counted by %j', (n) => {
    const { machine } = machineOf(specOf(LOOP));
    expect(thrown(() => machine.countToolCalls(n as number)).code).toBe('SKEIN_USAGE');
    expect(machine.context().total_tool_calls).toBeUndefined();
  });

  it('[14] max_wall_time_sec counts whole seconds from the start', () => {
    const { machine, clock } = machineOf(specOf(LOOP, { engine: { budget: { max_wall_time_sec: 2 } } }));
    clock.advance(1_999);
    fire(machine, 'Go');
    clock.advance(1);
    expect(thrown(() => machine.processEvent('Go')).message).toBe(
      'workflow budget exhausted: max_wall_time_sec 2 reached limit 2',
    );
  });

  it('[14] [decision 6] only the time that a machine was alive counts, not that between two', () => {
    const spec = specOf(LOOP, { engine: { budget: { max_wall_time_sec: 10 } } });
    const { machine, clock } = machineOf(spec);
    clock.advance(6_000);
    const saved = machine.context();
    expect(saved.metadata).toEqual({ 'skein.alive_ms': 6_000 });
    clock.advance(86_400_000);
    const resumed = StateMachine.restore(spec, saved, { clock });
    clock.advance(3_999);
    expect(resumed.exhaustedBudget()).toBeUndefined();
    expect(resumed.context().metadata).toEqual({ 'skein.alive_ms': 9_999 });
    clock.advance(1);
    expect(resumed.exhaustedBudget()?.current).toBe(10);
  });

  it('[14] [decision 6] a context of PromptKit counts from when it is loaded', () => {
    const spec = specOf(LOOP, { engine: { budget: { max_wall_time_sec: 10 } } });
    const { clock } = machineOf(spec);
    const time = '2020-05-05T10:00:00.123456789+02:00';
    const old = { current_state: 'a', history: [], visit_counts: { a: 1 }, started_at: time, updated_at: time };
    const machine = StateMachine.restore(spec, old, { clock });
    clock.advance(9_999);
    expect(machine.exhaustedBudget()).toBeUndefined();
    clock.advance(1);
    expect(machine.exhaustedBudget()?.limit).toBe('max_wall_time_sec');
    expect(machine.context().started_at).toBe(time);
  });

  it('[14] a clock that is set back takes nothing away', () => {
    let now = 10_000;
    const spec = specOf(LOOP, { engine: { budget: { max_wall_time_sec: 3 } } });
    const machine = new StateMachine(spec, { clock: { now: () => now } });
    for (const next of [12_000, 5_000, 6_000]) {
      now = next;
      machine.context();
    }
    expect(machine.context().metadata).toEqual({ 'skein.alive_ms': 3_000 });
    expect(machine.exhaustedBudget()?.current).toBe(3);
  });

  it('[15] is checked in the order visits, calls, time, and before the end, the event and the visits of a state', () => {
    const budget = { max_wall_time_sec: 1, max_tool_calls: 1, max_total_visits: 2 };
    const { machine, clock } = machineOf(specOf(LOOP, { engine: { budget } }));
    clock.advance(1_000);
    expect(machine.exhaustedBudget()?.limit).toBe('max_wall_time_sec');
    machine.countToolCalls(1);
    expect(machine.exhaustedBudget()?.limit).toBe('max_tool_calls');
    const { machine: ended } = machineOf(specOf(LOOP, { engine: { budget: { max_total_visits: 2 } } }));
    fire(ended, 'Stop');
    for (const event of ['Go', 'Nope']) expect(thrown(() => ended.processEvent(event)).code).toBe('SKEIN_BUDGET');
    const full = { a: { max_visits: 1, on_event: { Again: 'a' } } };
    const { machine: capped } = machineOf(specOf(full, { engine: { budget: { max_total_visits: 1 } } }));
    expect(thrown(() => capped.processEvent('Again')).code).toBe('SKEIN_BUDGET');
  });

  it('[16] can be asked for between transitions, inside of a state', () => {
    const { machine } = machineOf(specOf(LOOP, { engine: { budget: { max_tool_calls: 2 } } }));
    machine.countToolCalls(1);
    expect(machine.exhaustedBudget()).toBeUndefined();
    machine.countToolCalls(1);
    expect(machine.exhaustedBudget()).toMatchObject({ limit: 'max_tool_calls', current: 2, max: 2 });
  });

  it('[11] 0 is no bound', () => {
    const budget = { max_wall_time_sec: 0, max_tool_calls: 0, max_total_visits: 0 };
    const { machine, clock } = machineOf(specOf(LOOP, { engine: { budget } }));
    clock.advance(10_000_000);
    machine.countToolCalls(10_000);
    expect(machine.processEvent('Go').to).toBe('b');
  });
});
