import { describe, expect, it } from 'vitest';
import type { Context } from 'skein/machine';
import {
  InvalidEventError,
  MachineContext,
  StateMachine,
  TerminalStateError,
  parseSpec,
  sortedEvents,
} from 'skein/machine';
import { DRAFT, START, fire, machineOf, specOf } from './support/machines.js';
import { thrown } from '../thrown.js';

describe('a machine', () => {
  it('[2] starts at its entry, visited once, with an empty history, at the time of its clock', () => {
    const { machine } = machineOf(DRAFT);
    expect(machine.context()).toStrictEqual({
      current_state: 'draft',
      history: [],
      visit_counts: { draft: 1 },
      started_at: START,
      updated_at: START,
    });
    expect([machine.currentState, machine.currentPromptTask, machine.isTerminal]).toEqual(['draft', 'draft', false]);
  });

  it('[2] tells the time by the clock of the host when it is given none', () => {
    const before = Date.now();
    const started = Date.parse(new StateMachine(DRAFT).context().started_at);
    expect(started).toBeGreaterThanOrEqual(before);
    expect(started).toBeLessThanOrEqual(Date.now());
  });

  it('[3] is at an end in a state that says so or has no events, and refuses all events there', () => {
    const spec = specOf({ a: { Go: 'b', Stop: 'c' }, b: {}, c: { terminal: true, on_event: { Go: 'a' } } });
    for (const [event, state] of [
      ['Go', 'b'],
      ['Stop', 'c'],
    ] as const) {
      const { machine } = machineOf(spec);
      machine.processEvent(event);
      expect([machine.isTerminal, machine.availableEvents()]).toEqual([true, []]);
      const error = thrown(() => machine.processEvent('Go'));
      expect(error).toBeInstanceOf(TerminalStateError);
      expect([error.code, error.message]).toEqual([
        'SKEIN_TERMINAL_STATE',
        `current state is terminal (no outgoing transitions): state "${state}" is terminal`,
      ]);
      expect(error).toMatchObject({ state });
      expect(machine.currentState).toBe(state);
    }
  });

  it('[3] reads as terminal, without prompt and events, in a state that the spec does not have', () => {
    const { machine } = machineOf({ ...DRAFT, entry: 'nowhere' });
    expect([machine.isTerminal, machine.currentPromptTask, machine.availableEvents()]).toEqual([true, '', []]);
    const error = thrown(() => machine.processEvent('Submit'));
    expect(error).toBeInstanceOf(InvalidEventError);
    expect(error.message).toBe('invalid event for current state: state "nowhere" not found in spec');
  });

  it('[4] checks budget, state, end, event and visits in this order, and an error changes nothing', () => {
    const states = {
      a: { max_visits: 1, on_event: { Self: 'a', End: 'end' } },
      end: { terminal: true },
    };
    const unknown = machineOf(specOf(states, { entry: 'x', engine: { budget: { max_total_visits: 1 } } })).machine;
    expect(thrown(() => unknown.processEvent('Self')).code).toBe('SKEIN_BUDGET');
    const { machine } = machineOf(specOf(states));
    const before = machine.context();
    expect(thrown(() => machine.processEvent('Nope')).code).toBe('SKEIN_INVALID_EVENT');
    expect(thrown(() => machine.processEvent('Self')).code).toBe('SKEIN_STATE_VISITS');
    expect(machine.context()).toStrictEqual(before);
    machine.processEvent('End');
    expect(thrown(() => machine.processEvent('Nope')).code).toBe('SKEIN_TERMINAL_STATE');
  });

  it('[5] names the events of the state, sorted, for an event that it does not have', () => {
    const { machine } = machineOf(DRAFT);
    const error = thrown(() => machine.processEvent('Submitt'));
    expect(error).toBeInstanceOf(InvalidEventError);
    expect([error.code, error.message, error.hint]).toEqual([
      'SKEIN_INVALID_EVENT',
      'invalid event for current state: event "Submitt" not defined for state "draft" (available: [Abort Submit])',
      'did you mean "Submit"?',
    ]);
    expect(error).toMatchObject({ event: 'Submitt', state: 'draft', available: ['Abort', 'Submit'] });
    expect(error.details).toEqual({ event: 'Submitt', state: 'draft', available: ['Abort', 'Submit'] });
  });

  it('[6] gives where an event led', () => {
    const { machine } = machineOf(DRAFT);
    expect(machine.processEvent('Submit')).toStrictEqual({ from: 'draft', to: 'review', event: 'Submit' });
    expect(machine.currentPromptTask).toBe('review');
  });

  it('[6] [A1] previews what an event would give, and changes nothing', () => {
    const { machine } = machineOf(DRAFT);
    const before = machine.context();
    expect(machine.preview('Submit')).toStrictEqual({ from: 'draft', to: 'review', event: 'Submit' });
    expect(thrown(() => machine.preview('Nope')).code).toBe('SKEIN_INVALID_EVENT');
    expect(machine.context()).toStrictEqual(before);
  });

  it('[7] lists its events sorted, matches them exactly, and gives a list of its own each time', () => {
    const { machine } = machineOf(specOf({ a: { b: 'a', B: 'a', A: 'a' } }));
    machine.availableEvents().push('C');
    expect(machine.availableEvents()).toEqual(['A', 'B', 'b']);
    expect(thrown(() => machine.processEvent('a')).code).toBe('SKEIN_INVALID_EVENT');
    expect(sortedEvents({ b: 'x', a: 'y' })).toEqual(['a', 'b']);
    expect(sortedEvents(undefined)).toEqual([]);
  });

  it('[4] refuses an event that leads to a state which the spec does not have', () => {
    const { machine } = machineOf(specOf({ a: { Go: 'gone' } }));
    const error = thrown(() => machine.processEvent('Go'));
    expect(error.message).toBe('invalid event for current state: state "gone" not found in spec');
    expect(machine.currentState).toBe('a');
  });

  it('[24] is in a valid state after events of several tasks', async () => {
    const { machine } = machineOf(specOf({ a: { Go: 'b' }, b: { Go: 'a' } }));
    await Promise.all(Array.from({ length: 100 }, async () => machine.processEvent('Go')));
    const { history, visit_counts } = machine.context();
    expect([machine.currentState, history.length, visit_counts]).toEqual(['a', 100, { a: 51, b: 50 }]);
    for (const [at, { from }] of history.entries()) expect(from).toBe(at % 2 === 0 ? 'a' : 'b');
  });
});

describe('names that mean something elsewhere', () => {
  it.each(['END', 'a/b', '__proto__', 'constructor', 'toString', '', '0'])(
    '[7] a state, an event and an artifact may be called %j',
    (name) => {
      const spec = parseSpec(
        JSON.parse(`{
      "version": 1, "entry": ${JSON.stringify(name)}, "states": { ${JSON.stringify(name)}: {
        "prompt_task": "p", "on_event": { ${JSON.stringify(name)}: ${JSON.stringify(name)} }, "max_visits": 3,
        "artifacts": { ${JSON.stringify(name)}: { "type": "text/plain", "mode": "append" } } } } }`),
      );
      if (spec === null) throw new Error('no spec');
      const { machine, clock } = machineOf(spec);
      fire(machine, name);
      if (name !== '') {
        machine.setArtifact(name, 'x');
        machine.setArtifact(name, 'y');
      }
      fire(machine, name);
      expect(thrown(() => machine.processEvent(name)).code).toBe('SKEIN_STATE_VISITS');
      const copy = StateMachine.restore(spec, JSON.parse(JSON.stringify(machine.context())) as Context, { clock });
      expect(Object.entries(copy.context().visit_counts ?? {})).toEqual([[name, 3]]);
      expect(Object.entries(copy.artifacts())).toEqual(name === '' ? [] : [[name, 'xy']]);
      expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    },
  );

  it('[7] a name that objects inherit is not an event, a state or an artifact', () => {
    const { machine } = machineOf(specOf({ a: { Go: 'toString' } }));
    for (const event of ['constructor', '__proto__']) {
      expect(thrown(() => machine.processEvent(event)).code).toBe('SKEIN_INVALID_EVENT');
    }
    expect(thrown(() => machine.processEvent('Go')).message).toMatch(/not found in spec/);
    expect(new MachineContext('a', 0).getArtifact('constructor')).toBe('');
  });
});

describe('the data of a machine', () => {
  it('[A1] null gives null, and wrong types are problems, all at once', () => {
    expect([parseSpec(null), parseSpec(undefined)]).toEqual([null, null]);
    const error = thrown(() =>
      parseSpec({
        version: '1',
        states: { 'a b': { prompt_task: 3, on_event: { Go: null }, max_visit: 2, terminal: 'yes' } },
        engine: [],
      }),
    );
    expect(error.code).toBe('SKEIN_DEFINITION');
    expect(error.message.split('\n').map((line) => line.trim())).toEqual([
      'error wrong-form: workflow.version must be a whole number, not the text "1"',
      'error wrong-form: workflow.states["a b"].prompt_task must be a text, not 3',
      'error wrong-form: workflow.states["a b"].on_event["Go"] must be a text, not null',
      'error wrong-form: workflow.states["a b"].terminal must be true or false, not the text "yes"',
      'error wrong-form: workflow.states["a b"]["max_visit"] is not a known key',
      'hint: did you mean "max_visits"?',
      'error wrong-form: workflow.engine must be an object, not a list',
      'error wrong-form: workflow.entry is missing',
    ]);
    expect(error.details).toMatchObject({ problems: { length: 7 } });
    expect(thrown(() => parseSpec('x')).message).toMatch(/workflow must be an object, not the text "x"/);
  });

  it.each([
    ['a text', { max_tool_calls: '10' }],
    ['a fraction', { max_total_visits: 1.5 }],
    ['a negative number', { max_wall_time_sec: -1 }],
    ['null', { max_tool_calls: null }],
    ['a list', []],
    ['nothing', null],
  ])('[17] [decision 6] a budget of wrong type is a problem, never no budget: %s', (_, budget) => {
    const spec = { ...DRAFT, engine: { budget } } as unknown as typeof DRAFT;
    for (const call of [() => parseSpec(spec), () => new StateMachine(spec)]) {
      const error = thrown(call);
      expect([error.code, error.message]).toEqual([
        'SKEIN_DEFINITION',
        expect.stringMatching(/workflow\.engine\.budget/),
      ]);
    }
  });

  it('[1] is kept as it was, whatever becomes of the object that was given', () => {
    const given = structuredClone(DRAFT) as {
      entry: string;
      states: Record<string, { on_event?: Record<string, string> }>;
    };
    const machine = new StateMachine(given as unknown as typeof DRAFT);
    given.states['draft'] = { on_event: { Other: 'done' } };
    expect(machine.availableEvents()).toEqual(['Abort', 'Submit']);
    expect(machine.spec).toEqual(DRAFT);
    expect(() => Object.assign(machine.spec.states, { more: {} })).toThrow(TypeError);
    expect(parseSpec(machine.spec), 'what was read is not read again').toBe(machine.spec);
  });

  it('[1] takes every key that the two schemas have', () => {
    const spec = {
      version: 2,
      entry: 'a',
      engine: { budget: { max_total_visits: 5, max_tool_calls: 6, max_wall_time_sec: 7 }, timeout: { any: ['thing'] } },
      states: {
        a: {
          prompt_task: 'a',
          description: 'first',
          on_event: { Go: 'b' },
          persistence: 'transient',
          orchestration: 'hybrid',
          skills: 'none',
          max_visits: 2,
          on_max_visits: 'b',
          artifacts: { log: { type: 'text/plain', description: 'what was done', mode: 'append' } },
        },
        b: { orchestration: 'composition', composition: 'c', terminal: true },
      },
    };
    expect(parseSpec(spec)).toEqual(spec);
  });
});
