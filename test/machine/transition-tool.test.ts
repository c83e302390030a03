import { describe, expect, it } from 'vitest';
import type { PendingTransition, TransitionResult } from 'skein/machine';
import {
  ARTIFACT_TOOL,
  InvalidEventError,
  PendingTransitions,
  TRANSITION_TOOL,
  artifactTool,
  toolsOf,
  transitionTool,
} from 'skein/machine';
import { DRAFT, fire, machineOf, specOf } from './support/machines.js';
import { thrown } from '../thrown.js';

describe('the tools of a state', () => {
  it('[28] the transition tool offers the events, sorted, and asks for a context', () => {
    const tool = transitionTool(['Submit', 'Abort']);
    expect(tool).toMatchObject({ name: 'workflow__transition', namespace: 'workflow' });
    expect([TRANSITION_TOOL, tool.description.startsWith('Transition the workflow')]).toEqual([tool.name, true]);
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { event: { type: 'string', enum: ['Abort', 'Submit'] }, context: { type: 'string' } },
      required: ['event', 'context'],
    });
  });

  it('[27] the artifact tool offers the names of all states, sorted, and is there if any state declares one', () => {
    const note = { note: { type: 'text/plain' } };
    const tool = artifactTool(
      specOf({ a: { artifacts: note }, b: { artifacts: { ...note, log: { type: 'text/plain' } } } }),
    );
    expect(tool).toMatchObject({ name: ARTIFACT_TOOL, namespace: 'workflow' });
    expect(tool?.inputSchema).toMatchObject({
      properties: { name: { type: 'string', enum: ['log', 'note'] }, value: { type: 'string' } },
      required: ['name', 'value'],
    });
    expect([ARTIFACT_TOOL, artifactTool(DRAFT)]).toEqual(['workflow__set_artifact', undefined]);
  });

  it('[29] the transition tool is there where the model may fire events', () => {
    const artifacts = { note: { type: 'text/plain' } };
    const on_event = { Go: 'end' };
    const names = (state: object): string[] =>
      toolsOf(machineOf(specOf({ a: { on_event, ...state }, end: {} })).machine).map(({ name }) => name);
    expect([names({}), names({ orchestration: 'internal' }), names({ orchestration: 'hybrid' })]).toEqual(
      Array.from({ length: 3 }, () => [TRANSITION_TOOL]),
    );
    expect([names({ orchestration: 'external' }), names({ orchestration: 'composition' })]).toEqual([[], []]);
    expect([names({ terminal: true }), names({ on_event: {} })]).toEqual([[], []]);
    expect(names({ orchestration: 'external', artifacts })).toEqual([ARTIFACT_TOOL]);
    expect(toolsOf(machineOf({ ...DRAFT, entry: 'nowhere' }).machine)).toEqual([]);
  });

  it('[29] are those of the state that was entered, and no machine sees those of another', () => {
    const { machine } = machineOf(DRAFT);
    const { machine: other } = machineOf(DRAFT);
    fire(machine, 'Submit');
    expect(toolsOf(machine)).toEqual([transitionTool(['Approve', 'Reject'])]);
    fire(machine, 'Approve');
    expect([toolsOf(machine), toolsOf(other)]).toEqual([[], [transitionTool(['Abort', 'Submit'])]]);
    expect(toolsOf(other)[0]).not.toBe(toolsOf(other)[0]);
  });
});

describe('a call of the transition tool', () => {
  it('[30] schedules, and the machine stays where it is until the commit', () => {
    const { machine } = machineOf(DRAFT);
    const pending = new PendingTransitions(machine);
    expect(pending.machine).toBe(machine);
    expect([pending.pending, pending.commit()]).toEqual([null, null]);
    expect(pending.execute({ event: 'Submit', context: 'two pages' })).toEqual({
      status: 'transition_scheduled',
      event: 'Submit',
      target_state: 'review',
    });
    expect([machine.currentState, pending.pending]).toEqual(['draft', { event: 'Submit', context: 'two pages' }]);
    expect(pending.commit()).toStrictEqual({ from: 'draft', to: 'review', event: 'Submit' });
    expect([machine.currentState, pending.pending]).toEqual(['review', null]);
  });

  it('[30] [decision 4] names the target of the current state, redirects included', () => {
    const { machine } = machineOf(
      specOf({
        a: { Next: 'b' },
        b: { max_visits: 1, on_max_visits: 'end', on_event: { Next: 'a' } },
        end: { terminal: true },
      }),
    );
    fire(machine, 'Next');
    const pending = new PendingTransitions(machine);
    expect(pending.execute({ event: 'Next', context: '' }).target_state).toBe('a');
    pending.commit();
    expect(pending.execute({ event: 'Next', context: '' }).target_state).toBe('end');
    expect(pending.commit()).toMatchObject({ to: 'end', redirected: true, original_target: 'b' });
  });

  it('[decision 4] is refused for an event that is not there, a full state and a budget, with what else can be done', () => {
    const { machine } = machineOf(
      specOf(
        { a: { max_visits: 1, on_event: { Again: 'a', Go: 'b' } }, b: {} },
        { engine: { budget: { max_tool_calls: 2 } } },
      ),
    );
    const pending = new PendingTransitions(machine);
    expect(thrown(() => pending.execute({ event: 'Nope', context: '' })).message).toMatch(
      /\(available: \[Again Go\]\)$/,
    );
    expect(thrown(() => pending.execute({ event: 'Again', context: '' }))).toMatchObject({
      code: 'SKEIN_STATE_VISITS',
      message: 'max visits exceeded: state "a" visited 1 times (max 1)',
      working_events: ['Go'],
    });
    machine.countToolCalls(2);
    expect(thrown(() => pending.execute({ event: 'Go', context: '' })).code).toBe('SKEIN_BUDGET');
    expect(pending.pending).toBeNull();
  });

  it('[decision 4] is refused when one of the round is scheduled already, which stands', () => {
    const pending = new PendingTransitions(machineOf(DRAFT).machine);
    pending.execute({ event: 'Abort', context: '' });
    const error = thrown(() => pending.execute({ event: 'Submit', context: '' }));
    expect([error.code, error.message]).toEqual([
      'SKEIN_TOOL_REFUSED',
      'workflow__transition: a transition is scheduled in this round already, by event "Abort"',
    ]);
    expect(pending.commit()?.to).toBe('done');
  });

  it.each<[unknown, RegExp]>([
    ['Submit', /the arguments must be an object$/],
    [null, /the arguments must be an object$/],
    [{}, /event must be a text, not a value of type undefined$/],
    [{ event: 3, context: [] }, /event must be a text, not 3; context must be a text, not a list$/],
    [{ event: 'Submit', when: () => 1 }, /arguments must be JSON/],
  ])('[30] is refused with wrong arguments: %j', (args, message) => {
    const pending = new PendingTransitions(machineOf(DRAFT).machine);
    const error = thrown(() => pending.execute(args));
    expect([error.code, error.message]).toEqual(['SKEIN_TOOL_REFUSED', expect.stringMatching(message)]);
    expect(pending.pending).toBeNull();
  });

  it('[31] tells of the commit, of its failure, and waits no longer after either', () => {
    const told: unknown[] = [];
    const { machine } = machineOf(
      specOf({ a: { Go: 'b' }, b: { Go: 'a' } }, { engine: { budget: { max_tool_calls: 1 } } }),
    );
    const pending = new PendingTransitions(machine, {
      onCommit: (result: TransitionResult) => told.push(result.to),
      onCommitError: (error: unknown, transition: PendingTransition) =>
        told.push([(error as Error).name, transition.event]),
    });
    pending.execute({ event: 'Go', context: '' });
    pending.commit();
    pending.execute({ event: 'Go', context: '' });
    machine.countToolCalls(1);
    expect(thrown(() => pending.commit()).code).toBe('SKEIN_BUDGET');
    expect([told, pending.pending, pending.commit()]).toEqual([['b', ['BudgetExhaustedError', 'Go']], null, null]);
  });

  it('[31] is forgotten by clear', () => {
    const { machine } = machineOf(DRAFT);
    const pending = new PendingTransitions(machine);
    pending.execute({ event: 'Submit', context: '' });
    pending.clear();
    expect([pending.commit(), machine.currentState]).toEqual([null, 'draft']);
  });

  it('[31] of a state that was left is not carried out in another one that has the event too', () => {
    const { machine } = machineOf(specOf({ a: { Go: 'b', Loop: 'a' }, b: { Go: 'c' }, c: {} }));
    for (const event of ['Go', 'Loop']) {
      const pending = new PendingTransitions(machine);
      pending.execute({ event: 'Go', context: '' });
      fire(machine, event);
      const before = machine.currentState;
      const error = thrown(() => pending.commit());
      expect(error).toBeInstanceOf(InvalidEventError);
      expect(error.message).toMatch(
        /^invalid event for current state: event "Go" was scheduled in state "\w", which was left since$/,
      );
      expect(machine.currentState).toBe(before);
      if (event === 'Go') break;
    }
    const { machine: looping } = machineOf(specOf({ a: { Go: 'b', Loop: 'a' }, b: {} }));
    const pending = new PendingTransitions(looping);
    pending.execute({ event: 'Go', context: '' });
    fire(looping, 'Loop');
    expect(thrown(() => pending.commit()).message, 'it was entered anew').toMatch(/which was left since$/);
  });

  it('[32] keeps what else was given as host_extras, a copy, and has none when nothing was', () => {
    const { machine } = machineOf(DRAFT);
    const results: TransitionResult[] = [];
    const pending = new PendingTransitions(machine, { onCommit: (result) => results.push(result) });
    const args = JSON.parse(
      '{ "event": "Submit", "context": "c", "ticket": { "id": 7 }, "__proto__": { "x": 1 } }',
    ) as {
      ticket: { id: number };
    };
    pending.execute(args);
    args.ticket.id = 8;
    const extras = JSON.stringify({ ticket: { id: 7 }, ['__proto__']: { x: 1 } });
    expect(JSON.stringify(pending.pending)).toBe(`{"event":"Submit","context":"c","host_extras":${extras}}`);
    expect(JSON.stringify(pending.commit()?.host_extras)).toBe(extras);
    expect(results[0]?.host_extras?.['ticket']).toEqual({ id: 7 });
    pending.execute({ event: 'Reject', context: 'c' });
    expect(pending.commit()).not.toHaveProperty('host_extras');
  });
});
