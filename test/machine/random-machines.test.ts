import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Context, Spec, State } from 'skein/machine';
import { MaxVisitsExceededError, PendingTransitions, StateMachine, validateSpec } from 'skein/machine';
import { FakeClock } from 'skein/testing';
import type { Answer } from './support/reference.js';
import { ReferenceMachine } from './support/reference.js';

const STATES = ['a', 'b', 'c', '__proto__', 'END'];
const EVENTS = ['Go', 'Back', 'toString', '__proto__'];
const ARTIFACTS = ['log', 'note', '__proto__'];

/** An object with some of the keys. */
function some<T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  const entry = fc.tuple(fc.constantFrom(...keys), value);
  return fc
    .uniqueArray(entry, { selector: ([key]) => key, maxLength: keys.length })
    .map((entries) => Object.fromEntries(entries));
}

const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...STATES) },
  { weight: 1, arbitrary: fc.constant('gone') },
);

const state: fc.Arbitrary<State> = fc.record(
  {
    prompt_task: fc.constantFrom('p', 'q'),
    on_event: some(EVENTS, name),
    terminal: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
    max_visits: fc.nat(3),
    on_max_visits: name,
    artifacts: some(
      ARTIFACTS,
      fc.record({ type: fc.constant('text/plain'), mode: fc.constantFrom('append', 'replace') }),
    ),
  },
  { requiredKeys: ['on_event'] },
);

const bound = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 12 }));

const spec: fc.Arbitrary<Spec> = fc.record({
  version: fc.constantFrom(1, 2),
  entry: name,
  states: some(STATES, state),
  engine: fc.record({
    budget: fc.record(
      { max_total_visits: bound, max_tool_calls: bound, max_wall_time_sec: bound },
      { requiredKeys: [] },
    ),
  }),
});

/** The same with names of its own states alone. */
function closed(given: Spec): Spec {
  const [first = 'a'] = Object.keys(given.states);
  const known = (target: string): string => (Object.hasOwn(given.states, target) ? target : first);
  const states = Object.entries(given.states).map(
    ([key, { on_event = {}, on_max_visits, ...rest }]): [string, State] => {
      const targets = Object.fromEntries(Object.entries(on_event).map(([event, target]) => [event, known(target)]));
      return [
        key,
        { ...rest, on_event: targets, ...(on_max_visits === undefined ? {} : { on_max_visits: known(on_max_visits) }) },
      ];
    },
  );
  return { ...given, entry: known(given.entry), states: Object.fromEntries(states) };
}

type Deed = readonly ['fire' | 'set' | 'calls' | 'wait' | 'restore', string, number];

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant('fire' as const), fc.constantFrom(...EVENTS, 'Nope'), fc.nat(2)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('set' as const), fc.constantFrom(...ARTIFACTS, 'other'), fc.nat(99)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('calls' as const), fc.constant(''), fc.nat(2)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('wait' as const), fc.constant(''), fc.nat(1_500)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('restore' as const), fc.constant(''), fc.nat(5_000)) },
);

/** What a machine answers, in the form of the reference. */
function answerOf(call: () => object): Answer {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error) return [error.name, error.message];
    throw error;
  }
}

describe('random machines under random events', () => {
  it('[4] [8] [10] [12] [18] [25] [26] do what slow, obvious code does', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(spec, fc.array(deed, { maxLength: 40 }), (given, deeds) => {
        const clock = new FakeClock();
        let machine = new StateMachine(given, { clock });
        const reference = new ReferenceMachine(given, clock.now());
        for (const [kind, word, n] of deeds) {
          if (kind === 'fire') {
            const before = machine.context();
            const answer = answerOf(() => fireBy(n, machine, word));
            expect(answer).toStrictEqual(reference.fire(word, clock.now()));
            if (Array.isArray(answer)) expect(machine.context()).toStrictEqual(before);
            reached.add(Array.isArray(answer) ? String(answer[0]) : Object.keys(answer).join(' '));
          } else if (kind === 'set') {
            machine.setArtifact(word, String(n));
            reference.setArtifact(word, String(n));
          } else if (kind === 'calls') {
            machine.countToolCalls(n);
            reference.countCalls(n);
          } else if (kind === 'wait') {
            clock.advance(n);
            reference.aliveMs += n;
          } else if (Object.hasOwn(given.states, machine.currentState)) {
            const saved = JSON.stringify(machine.context());
            clock.advance(n);
            machine = StateMachine.restore(given, JSON.parse(saved) as Context, { clock });
            expect(JSON.stringify(machine.context())).toBe(saved);
          }
          expect(machine.context()).toStrictEqual(reference.context());
          expect(machine.availableEvents()).toStrictEqual(reference.events());
        }
      }),
      { numRuns: 300 },
    );
    // So many different things were seen that the comparison means something.
    expect(reached.size).toBeGreaterThanOrEqual(4);
  });

  it('[decision 4] the events that are said to work do, and the others do not', () => {
    fc.assert(
      fc.property(spec, fc.array(fc.constantFrom(...EVENTS), { maxLength: 20 }), (given, events) => {
        const machine = new StateMachine(given, { clock: new FakeClock() });
        for (const event of events) {
          try {
            machine.processEvent(event);
          } catch (error) {
            if (!(error instanceof MaxVisitsExceededError)) continue;
            const working = machine.availableEvents().filter((one) => {
              const answer = answerOf(() => machine.preview(one));
              return !Array.isArray(answer);
            });
            expect(error.working_events).toEqual(working);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('[decision 5] [decision 8] a spec without errors never meets a missing state or a loop of redirects', () => {
    let good = 0;
    fc.assert(
      fc.property(spec.map(closed), fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (given, events) => {
        if (validateSpec(given, ['p', 'q', '']).hasErrors) return;
        good += 1;
        const machine = new StateMachine(given, { clock: new FakeClock() });
        for (const event of events) {
          const answer = answerOf(() => machine.processEvent(event));
          if (Array.isArray(answer)) expect(answer[1]).not.toMatch(/not found in spec|form a loop/);
        }
      }),
      { numRuns: 300 },
    );
    expect(good).toBeGreaterThan(60);
  });

  it('[decision 5] with a bound on each state, every way ends', () => {
    const bounded = spec.map(({ states, ...rest }) => {
      const all = Object.entries(states).map(([key, one]) => [key, { ...one, max_visits: 1 + (one.max_visits ?? 0) }]);
      return { ...rest, states: Object.fromEntries(all) as Spec['states'] };
    });
    fc.assert(
      fc.property(bounded, fc.infiniteStream(fc.nat(7)), (given, choices) => {
        const machine = new StateMachine(given, { clock: new FakeClock() });
        const most = 1 + Object.values(given.states).reduce((sum, { max_visits = 0 }) => sum + max_visits, 0);
        let fired = 0;
        for (const choice of choices) {
          const events = machine.availableEvents();
          const working = events.filter((one) => !Array.isArray(answerOf(() => machine.preview(one))));
          const event = working[choice % Math.max(1, working.length)];
          if (event === undefined) break;
          machine.processEvent(event);
          fired += 1;
          expect(fired).toBeLessThanOrEqual(most);
        }
        const left = machine.availableEvents().map((event) => answerOf(() => machine.preview(event)));
        expect(left.every(Array.isArray)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

/** By the machine itself, or by a call of the tool, which has to come to the same. */
function fireBy(way: number, machine: StateMachine, event: string): object {
  if (way === 0) return machine.processEvent(event);
  const pending = new PendingTransitions(machine);
  pending.execute({ event, context: '' });
  return pending.commit() ?? {};
}
