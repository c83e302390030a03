import { describe, expect, test } from 'vitest';
import {
  ARTIFACT_TOOL,
  BudgetExhaustedError,
  InvalidEventError,
  MAX_HISTORY,
  MachineContext,
  MaxVisitsExceededError,
  PendingTransitions,
  StateMachine,
  TRANSITION_TOOL,
  TerminalStateError,
  artifactTool,
  parseSpec,
  setArtifactCall,
  sortedEvents,
  toolsOf,
  transitionTool,
  validateSpec,
} from 'skein/machine';
import type { Spec } from 'skein/machine';
import { FakeClock } from 'skein/testing';
import { codeWords, tableBelow } from '../examples/support/tables.js';
import { START } from './support/machines.js';
import { thrown } from '../thrown.js';

const spec: Spec = {
  version: 2,
  entry: 'a',
  engine: { budget: { max_tool_calls: 3 } },
  states: {
    a: {
      prompt_task: 'p',
      on_event: { Go: 'b', Again: 'a' },
      max_visits: 1,
      artifacts: { note: { type: 'text/plain' } },
    },
    b: { prompt_task: 'q', terminal: true },
  },
};

const clock = new FakeClock();
const machineOf = (): StateMachine => new StateMachine(spec, { clock });

function pendingOf(machine = machineOf()): PendingTransitions {
  const pending = new PendingTransitions(machine);
  pending.execute({ event: 'Go', context: 'c' });
  return pending;
}

function accountOf(): MachineContext {
  const account = new MachineContext('a', 0);
  account.setArtifact('note', 'x', 'append');
  account.recordTransition('a', 'b', 'Go', 1_000);
  account.incrementToolCalls(2);
  return account;
}

/** The machine after something was done to it. */
function after(change: (machine: StateMachine) => unknown): StateMachine {
  const machine = machineOf();
  change(machine);
  return machine;
}

const GONE = { from: 'a', to: 'b', event: 'Go' };

/** What each row of the table gives, and what it must be. */
const ROWS: Readonly<Record<string, () => readonly [given: unknown, expected: unknown]>> = {
  'new StateMachine(spec)': () => [new StateMachine(spec).currentState, 'a'],
  'new StateMachine(spec, { clock })': () => [new StateMachine(spec, { clock }).context().started_at, START],
  'StateMachine.restore(spec, context, { clock })': () => [
    StateMachine.restore(spec, after((machine) => machine.processEvent('Go')).context(), { clock }).currentState,
    'b',
  ],
  'machine.currentState': () => [machineOf().currentState, 'a'],
  'machine.currentPromptTask': () => [machineOf().currentPromptTask, 'p'],
  'machine.isTerminal': () => [machineOf().isTerminal, false],
  'machine.availableEvents()': () => [machineOf().availableEvents(), ['Again', 'Go']],
  'machine.processEvent(event)': () => [machineOf().processEvent('Go'), GONE],
  'machine.setArtifact(name, value)': () => [after((one) => one.setArtifact('note', 'y')).artifacts(), { note: 'y' }],
  'machine.artifacts()': () => [machineOf().artifacts(), {}],
  'machine.countToolCalls(n)': () => [after((one) => one.countToolCalls(2)).context().total_tool_calls, 2],
  'machine.context()': () => [machineOf().context().visit_counts, { a: 1 }],
  'new MachineContext(entry, now)': () => [new MachineContext('a', 0).current_state, 'a'],
  'MachineContext.from(json)': () => [MachineContext.from(accountOf().toJSON()).toJSON(), accountOf().toJSON()],
  'account.clone()': () => [accountOf().clone().toJSON(), accountOf().toJSON()],
  'account.getArtifact(name)': () => [accountOf().getArtifact('note'), 'x'],
  'account.setArtifact(name, value, mode)': () => [accountOf().artifacts(), { note: 'x' }],
  'account.recordTransition(from, to, event, at)': () => [accountOf().current_state, 'b'],
  'account.incrementToolCalls(n)': () => [accountOf().totalToolCalls(), 2],
  'account.lastTransition()': () => [accountOf().lastTransition(), { ...GONE, timestamp: '1970-01-01T00:00:01.000Z' }],
  'account.totalVisits()': () => [accountOf().totalVisits(), 2],
  'account.transitionCount()': () => [accountOf().transitionCount(), 1],
  'machine.transitionCount': () => [after((one) => one.processEvent('Go')).transitionCount, 1],
  'parseSpec(raw)': () => [parseSpec(JSON.parse(JSON.stringify(spec))), spec],
  'validateSpec(spec, promptKeys)': () => [validateSpec(spec, ['p']).errors.length, 1],
  'sortedEvents(onEvent)': () => [sortedEvents({ Z: 'a', B: 'b' }), ['B', 'Z']],
  'transitionTool(events)': () => [transitionTool(['Go']).name, TRANSITION_TOOL],
  'artifactTool(spec)': () => [artifactTool(spec)?.name, ARTIFACT_TOOL],
  'toolsOf(machine)': () => [toolsOf(machineOf()).map(({ name }) => name), [TRANSITION_TOOL, ARTIFACT_TOOL]],
  'new PendingTransitions(machine)': () => [new PendingTransitions(machineOf()).pending, null],
  'new PendingTransitions(machine, { onCommit, onCommitError })': () => {
    const heard: string[] = [];
    const machine = machineOf();
    const pending = new PendingTransitions(machine, {
      onCommit: ({ to }) => heard.push(to),
      onCommitError: (_, { event }) => heard.push(`failed: ${event}`),
    });
    pending.execute({ event: 'Go', context: '' });
    machine.countToolCalls(3);
    expect(() => pending.commit()).toThrow(BudgetExhaustedError);
    return [heard, ['failed: Go']];
  },
  'pending.execute(args)': () => [
    new PendingTransitions(machineOf()).execute({ event: 'Go', context: '' }),
    { status: 'transition_scheduled', event: 'Go', target_state: 'b' },
  ],
  'pending.pending': () => [pendingOf().pending, { event: 'Go', context: 'c' }],
  'pending.commit()': () => [pendingOf().commit(), GONE],
  'pending.clear()': () => {
    const pending = pendingOf();
    pending.clear();
    return [pending.pending, null];
  },
  'pending.machine': () => {
    const machine = machineOf();
    return [pendingOf(machine).machine === machine, true];
  },
  'setArtifactCall(machine, args)': () => [
    setArtifactCall(machineOf(), { name: 'note', value: 'y' }),
    { status: 'artifact_set', artifact: 'note' },
  ],
  MAX_HISTORY: () => [MAX_HISTORY, 1_000],
  TRANSITION_TOOL: () => [TRANSITION_TOOL, 'workflow__transition'],
  ARTIFACT_TOOL: () => [ARTIFACT_TOOL, 'workflow__set_artifact'],
  'error instanceof InvalidEventError': () => [
    thrown(() => machineOf().processEvent('Nope')) instanceof InvalidEventError,
    true,
  ],
  'error instanceof TerminalStateError': () => [
    thrown(() => after((one) => one.processEvent('Go')).processEvent('Go')) instanceof TerminalStateError,
    true,
  ],
  'error instanceof MaxVisitsExceededError': () => [
    thrown(() => machineOf().processEvent('Again')) instanceof MaxVisitsExceededError,
    true,
  ],
  'error instanceof BudgetExhaustedError': () => [
    thrown(() => after((one) => one.countToolCalls(3)).processEvent('Go')) instanceof BudgetExhaustedError,
    true,
  ],
};

const TABLE = (await tableBelow('docs/machine.md', '## Coming from PromptKit')).flatMap(([, ours]) => codeWords(ours));

describe('[A1] coming from PromptKit', () => {
  test.each(TABLE)('%s does what the table says', (code) => {
    const row = ROWS[code];
    if (row === undefined) throw new Error(`no check for ${code}`);
    const [given, expected] = row();
    expect(given).toEqual(expected);
  });

  test('each check has its row', () => {
    expect(Object.keys(ROWS).toSorted()).toEqual([...TABLE].toSorted());
  });
});
