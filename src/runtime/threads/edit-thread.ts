import { systemClock } from '../../base/clock.js';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject, present } from '../../base/json.js';
import { checkOptions } from '../../base/options.js';
import { didYouMean } from '../../base/suggest.js';
import { carriedState, channelEnds, type Carried, type ChannelEnd } from '../../engine/state/carried-state.js';
import { compile, type CompiledPlan } from '../../engine/graph/compile.js';
import type { Store } from '../../journal/store.js';
import { keptChannels, readHead, shapeOf, threadRecords, type ThreadHead } from '../../journal/thread-journal.js';
import { noThread } from '../../journal/thread-overview.js';
import type { ShapeRecord, ThreadState } from '../../journal/thread-record.js';
import { checkThreadId } from '../../journal/thread-rows.js';
import { ThreadWriter } from '../../journal/thread-writer.js';
import { schemaFindings } from '../../lang/schema-check.js';
import type { Plan } from '../../plan/plan.js';
import type { Runnable } from '../options.js';
import { preparedPlan } from '../checked-plan.js';
import { givenUpTurn, passOver, type GivenUp } from './open-turn.js';
import { newHolder } from '../../stores/holder.js';
import { checkKinship } from './shape.js';
import { lastOutcome } from './turn.js';

/** The author of a change and the reason, recorded with the change. */
export interface ThreadChange {
  readonly who: string;
  readonly why: string;
  /** The workflow of the thread. Required for keys whose reducer is a function. If present, its schemas apply. */
  readonly workflow?: Runnable;
}

/**
 * Changes the state that the next turn of a conversation begins with. Values enter the state as inputs of a turn do: reducers add them to
 * the existing values. A value of undefined clears a key. The change is recorded with its author and reason.
 *
 * @throws SkeinError `SKEIN_NO_THREAD`; `SKEIN_INPUT` for an unknown key or a value that does not fit; `SKEIN_THREAD` while
 *   a turn is open; `SKEIN_LEASE` while one runs; `SKEIN_USAGE` without texts for who and why
 * @example
 * updateThread(store, 'support-4711', { topic: 'refund' }, { who: 'ada', why: 'the customer called' });
 */
export function updateThread(
  store: Store,
  id: string,
  values: Readonly<Record<string, unknown>>,
  change: ThreadChange,
): void {
  checkOptions<ThreadChange>('updateThread', change, { who: 'text', why: 'text', workflow: 'an object' });
  const { who, why, workflow } = change;
  checkThreadId(id);
  if (typeof who !== 'string' || typeof why !== 'string') {
    throw new SkeinError('SKEIN_USAGE', 'a change of a thread needs who makes it, and why, as texts', {
      hint: "updateThread(store, id, values, { who: 'ada', why: 'the customer called' })",
    });
  }
  if (readHead(store, id) === undefined) throw noThread(id);
  const held = hold(store, id);
  try {
    const { head, writer, lost } = held;
    if (lost === undefined) checkClosed(head);
    else passOver(writer, lost);
    const before = shapeOf(store, id, head.state);
    const compiled = workflow === undefined ? planOf(id, before) : preparedPlan(workflow);
    if (before !== undefined) checkKinship(id, before, compiled.plan);
    const carried = keptChannels(store, id, head.state);
    const names = Object.keys(values);
    checkNames(compiled, carried, names);
    if (workflow === undefined) checkSchemas(before, values);
    const ends = changedBy(compiled, carried, values);
    const at = systemClock.now();
    writer.write({
      at,
      writes: ends.map((end) => ({ ...end, place: carried.get(end.name)?.place })),
      head: (channels) => ({
        t: 'edit',
        at,
        turn: head.turns,
        who,
        why,
        values: names,
        state: present({ channels, shape: head.state.shape, absent: head.state.absent }),
      }),
      turns: head.turns,
    });
  } finally {
    held.leave();
  }
}

/** The point at which a conversation is forked. */
export interface ThreadFork {
  /** The last turn that both conversations share. It must have succeeded. Defaults to the last turn that did. */
  readonly turn?: number;
}

/**
 * Begins a conversation with the state that another one had after one of its turns. The two continue independently.
 *
 * @throws SkeinError `SKEIN_NO_THREAD`; `SKEIN_USAGE` if the new thread already exists or the turn does not; `SKEIN_THREAD` for a turn that
 *   left no state, and if none has left one
 * @example
 * forkThread(store, 'support-4711', 'what-if', { turn: 3 });
 * const { result } = run(workflow, { store, thread: 'what-if', inputs: { say: 'No.' } });
 */
export function forkThread(store: Store, from: string, to: string, options: ThreadFork = {}): void {
  checkOptions<ThreadFork>('forkThread', options, { turn: 'a number' });
  const { turn } = options;
  checkThreadId(from);
  checkThreadId(to);
  const head = readHead(store, from);
  if (head === undefined) throw noThread(from);
  if (readHead(store, to) !== undefined) {
    throw new SkeinError('SKEIN_USAGE', `there is a thread '${to}' already`, { hint: 'give the fork another name' });
  }
  const after = turn ?? head.after;
  if (after === undefined)
    throw new SkeinError(
      'SKEIN_THREAD',
      `no turn of the thread '${from}' has succeeded: there is nothing to continue`,
      {
        hint: 'fork it after a turn that succeeded',
      },
    );
  const state = turn === undefined ? head.state : stateAfter(store, from, turn);
  const shape = shapeOf(store, from, state);
  const at = systemClock.now();
  const kept = [...keptChannels(store, from, state)];
  const named = { id: to, name: shape?.workflow ?? '', holder: newHolder() };
  // In one commit: a fork without its state would be taken for a new conversation.
  const writer = ThreadWriter.create(store, named, systemClock, {
    at,
    begin: { t: 'thread', at, thread: to, from: { thread: from, turn: after }, state: { channels: {} } },
    writes: kept.map(([name, { kept: one, digest, label }]) => ({
      name,
      digest,
      label,
      kind: one.kind,
      whole: one.value,
    })),
    ...(shape === undefined ? {} : { shape }),
    head: (channels, written) => ({
      t: 'edit',
      at,
      turn: 0,
      who: 'fork',
      why: `forked from turn ${after} of ${from}`,
      values: kept.map(([name]) => name),
      state: present({ channels, shape: written, absent: state.absent }),
    }),
    turns: 0,
  });
  writer.release('succeeded');
}

function stateAfter(store: Store, id: string, turn: number): ThreadState {
  let outcome: string | undefined;
  for (const record of threadRecords(store, id)) {
    if ((record.t !== 'turn' && record.t !== 'ended') || record.turn !== turn) continue;
    if (record.t === 'ended' && record.state !== undefined) return record.state;
    outcome = record.t === 'turn' ? 'has not ended' : record.outcome;
  }
  if (outcome === undefined) {
    throw new SkeinError('SKEIN_USAGE', `the thread '${id}' has no turn ${turn}`, { hint: `skein thread shows them` });
  }
  throw new SkeinError('SKEIN_THREAD', `turn ${turn} of the thread '${id}' ${outcome}: it left no state`, {
    hint: 'fork from a turn that succeeded',
  });
}

interface Held {
  readonly writer: ThreadWriter;
  readonly head: ThreadHead;
  /** Its last turn, if that is given up. */
  readonly lost: GivenUp | undefined;
  leave(): void;
}

function hold(store: Store, id: string): Held {
  const found: { head?: ThreadHead } = {};
  const writer = opened(id, () =>
    ThreadWriter.open(store, id, newHolder(), systemClock, () => {
      const head = readHead(store, id);
      if (head === undefined) throw noThread(id);
      found.head = head;
      return head.end;
    }),
  );
  if (found.head === undefined) throw noThread(id);
  const lost = givenUpTurn(store, found.head);
  const outcome = lost?.outcome ?? lastOutcome(store, found.head);
  return { writer, head: found.head, lost, leave: () => writer.release(outcome) };
}

/** The store knows threads as runs: an error for one would name it so. */
function opened(id: string, open: () => ThreadWriter): ThreadWriter {
  try {
    return open();
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_LEASE') throw error;
    throw new SkeinError('SKEIN_LEASE', `the thread '${id}' is in use: a turn of it runs, or another change`, {
      hint: 'wait until it has ended',
      cause: error,
    });
  }
}

/** @throws SkeinError `SKEIN_THREAD` */
function checkClosed({ id, record }: ThreadHead): void {
  if (record.t !== 'turn') return;
  throw new SkeinError('SKEIN_THREAD', `turn ${record.turn} of the thread '${id}' has not come to its end`, {
    hint: `bring it to its end: answer its question, or skein resume ${record.run}`,
    details: { run: record.run, turn: record.turn },
  });
}

/** A plan with the channels of a shape, for values that no function of the workflow must check. */
function planOf(id: string, shape: ShapeRecord | undefined): CompiledPlan {
  if (shape === undefined) {
    throw new SkeinError('SKEIN_THREAD', `no turn of the thread '${id}' has succeeded: its state has no keys yet`, {
      hint: 'give the values as inputs of its first turn, or the workflow with the change',
    });
  }
  const channels = Object.entries(shape.channels).map(([name, channel]) => {
    const said = isPlainObject(channel) ? channel['reducer'] : undefined;
    return { name, ...(BUILT_IN.has(said) ? { reducer: said as 'append' } : {}) };
  });
  const plan: Plan = {
    format: 1,
    name: shape.workflow,
    inputs: [],
    channels,
    nodes: shape.steps.map((step) => ({ id: step, kind: 'pass' as const })),
    edges: [],
    routes: [],
    exits: [],
  };
  return compile(plan);
}

const BUILT_IN: ReadonlySet<unknown> = new Set(['append', 'extend', 'mergeDict', 'add', 'last']);

/** @throws SkeinError `SKEIN_INPUT` */
function checkNames({ channels }: CompiledPlan, carried: Carried, names: readonly string[]): void {
  const known = [...new Set([...channels.names, ...carried.keys()])];
  const strange = names.find((name) => !known.includes(name));
  if (strange === undefined) return;
  const hint = didYouMean(strange, known) ?? `its keys are ${known.join(', ')}`;
  throw new SkeinError('SKEIN_INPUT', `the state of the thread has no '${strange}'`, { hint });
}

/** @throws SkeinError `SKEIN_INPUT` */
function checkSchemas(shape: ShapeRecord | undefined, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    const channel = shape?.channels[name];
    const { reducer, schema } = isPlainObject(channel) ? channel : {};
    if (reducer !== undefined && !BUILT_IN.has(reducer)) {
      throw new SkeinError('SKEIN_INPUT', `'${name}' has a reducer that is a function`, {
        hint: 'give the workflow with the change: { who, why, workflow }',
      });
    }
    const [problem] = schema === undefined || value === undefined ? [] : schemaFindings(schema, value);
    if (problem !== undefined) throw new SkeinError('SKEIN_INPUT', `the value for '${name}' does not fit: ${problem}`);
  }
}

function changedBy(
  compiled: CompiledPlan,
  carried: Carried,
  values: Readonly<Record<string, unknown>>,
): readonly ChannelEnd[] {
  const cleared = new Set(Object.keys(values).filter((name) => values[name] === undefined));
  const left = new Map([...carried].filter(([name]) => !cleared.has(name)));
  const given = Object.fromEntries(Object.entries(values).filter(([name]) => !cleared.has(name)));
  const open = { ...compiled, plan: { ...compiled.plan, inputs: [], openInputs: true as const } };
  return channelEnds(carriedState(open, left, given, false), left);
}
