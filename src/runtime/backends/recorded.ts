import { isApproval } from '../../agent/loop/approval.js';
import { isGuardQuestion, nodePathOf } from '../../base/address.js';
import { policyDigest } from '../../guard/policy.js';
import type { ModelRegistry } from '../../agent/models/registry-options.js';
import { systemClock } from '../../base/clock.js';
import { lazily } from '../../base/collections.js';
import { toErrorData } from '../../base/errors.js';
import { securityGiven } from '../../plan/security.js';
import { present } from '../../base/json.js';
import { inSlices, type Slices } from '../../base/slices.js';
import { codeOf } from '../../engine/durable/identity.js';
import { RecordedDurable } from '../../engine/durable/recorded/recorded-durable.js';
import type { PriceTable } from '../../budget/prices.js';
import type { RunResult } from '../../engine/run.js';
import { checkEdits, firstState } from '../../engine/state/inputs.js';
import { beginSession, resumeSession, type OpenSession } from '../../journal/session.js';
import { joinedIf, type Label } from '../../guard/label.js';
import { StoreCounts } from '../../engine/durable/recorded/store-count.js';
import { isLeaving } from '../../journal/leaving.js';
import type { Store } from '../../journal/store.js';
import type { RunSettings } from '../../plan/fields.js';
import {
  answerBy,
  budgetOf,
  inMemory,
  type Backend,
  type BackendDefinition,
  type BegunRun,
  type OpenedRun,
  type RunOwner,
} from './backend.js';
import { goingOn, readRecordedRun, settingsOf, changesOf, type GoingOn, type RecordedRun } from '../going-on.js';
import type { RunOptions } from '../options.js';
import { budgetSettings, sharedLimits } from '../recorded-limits.js';
import { runLimits } from '../run-limits.js';
import { isOnThread } from '../threads/check-thread.js';
import { newHolder } from '../../stores/holder.js';
import { pause } from '../threads/line.js';
import { Turn } from '../threads/turn.js';
import type { RunWarning } from '../../engine/services.js';
import { forkStart } from '../../journal/fork-from.js';
import { changesText, type Changes } from '../changes.js';

/**
 * Gives each run a journal in the store. A long record is read in slices before the run starts; an invalid record rejects the promise.
 *
 * @throws SkeinError `SKEIN_STORE`, `SKEIN_RUN_EXISTS`, `SKEIN_NO_RUN`, `SKEIN_LEASE`, `SKEIN_JOURNAL`, `SKEIN_NOT_JSON`, all by `open`
 */
export function recordedIn(store: Store): Backend {
  return {
    open(definition, options) {
      const one = { ...definition, store, options };
      const open = (): OpenedRun | Promise<OpenedRun> =>
        one.turn === undefined && isOnThread(options) ? openOnThread(one) : inSlices(opened(one));
      const { resume } = options;
      if (resume === undefined || !isLeaving(store, resume, systemClock.now())) return open();
      return untilLeft(store, resume, one.signal()).then(open);
    },
  };
}

/** Delay between two looks at a session that is about to end. */
const LEAVING_MS = 10;

/** Waits for the end of a session, in this or another process, that takes no more answers: only the next session finds what has come since. */
async function untilLeft(store: Store, runId: string, signal: AbortSignal): Promise<void> {
  while (isLeaving(store, runId, systemClock.now())) await pause(LEAVING_MS, signal);
}

interface Opening extends BackendDefinition {
  readonly store: Store;
  readonly options: RunOptions;
}

/** One promise for all turns, so that they stand in line in the order in which they were started. */
const turns = lazily(() => import('../threads/turn-of.js'));

async function openOnThread(one: Opening): Promise<OpenedRun> {
  const options = { ...one.options, signal: one.signal() };
  const { turnOf } = await turns();
  const turn = await turnOf({ ...one, options }, one.store, one.launch);
  try {
    return await inSlices(opened({ ...one, turn }));
  } catch (error) {
    turn?.abandon();
    throw error;
  }
}

function* opened(one: Opening): Slices<OpenedRun> {
  const session = yield* openSession(one);
  const { inputs, settings, formerModels, influence, wrote } = session;
  const { memory, maxSteps, untrusted, private: hidden, security } = settings;
  const prices = settings.prices as PriceTable | undefined;
  return {
    inputs,
    settings: present({ memory, maxSteps, untrusted, private: hidden, security, prices }),
    formerModels,
    influence,
    wrote,
    begin: (owner) => begin(one, session, owner),
  };
}

/** An open session, and what the run continues with. */
interface Opened extends GoingOn, Announcement {
  readonly turn: Turn | undefined;
  readonly session: OpenSession;
  readonly influence: Label | undefined;
  readonly wrote: readonly string[];
}

/** Opens the session of a run. Everything that can be checked is checked before anything is written. */
function* openSession(one: Opening): Slices<Opened> {
  const { store, runId, compiled, models, options } = one;
  const { plan } = compiled;
  const code = codeOf(compiled);
  const holder = newHolder();
  const from = options.resume ?? options.fork?.run;
  const recorded = from === undefined ? undefined : (one.recorded ?? (yield* readRecordedRun(store, from)));
  const going =
    recorded === undefined ? begun(models, options) : goingOn({ store, plan }, recorded, models.identity(), options);
  checkEdits(compiled, going.edits);
  const before = recorded?.family[0].begin.thread;
  // The influence on the first start of a run remains in every later session.
  const influence = joinedIf(recorded?.family[0].begin.influence, one.influence);
  const wrote = writtenIn(recorded);
  const turn = one.turn ?? (before === undefined ? undefined : new Turn(store, before, undefined));
  if (turn === undefined) firstState(compiled, going.inputs);
  else turn.start(compiled, going.inputs);
  const settings = settingsIn(one, recorded, going);
  const definition = { plan, code, inputs: going.inputs, settings };
  if (recorded === undefined || options.resume === undefined) {
    const parent =
      recorded === undefined ? {} : { parent: { family: recorded.family, ...options.fork, edits: going.edits } };
    const run = { ...definition, ...parent, thread: turn?.of, influence, runId };
    turn?.begin(runId, going.inputs);
    const session = yield* beginSession(store, { ...run, origin: options.origin ?? {} }, holder, systemClock.now());
    return { ...going, settings, session, turn, influence, wrote, ...announcement(one, recorded, going) };
  }
  const told = announcement(one, recorded, going);
  const session = yield* resumeSession(store, recorded.reader, definition, holder, systemClock);
  return { ...going, settings, session, turn, influence, wrote, ...told };
}

/** Also by those whose outcome is forgotten: the files are still there. */
function writtenIn(recorded: RecordedRun | undefined): readonly string[] {
  return recorded === undefined ? [] : recorded.family.flatMap(({ wrote }) => [...wrote]);
}

/** The settings that the session keeps, with the changes of the budget. */
function settingsIn(
  { store, compiled, options }: Opening,
  recorded: RecordedRun | undefined,
  going: GoingOn,
): RunSettings {
  const resumes = options.resume === undefined ? undefined : recorded?.family[0];
  const run = { store, plan: compiled.plan, before: recorded?.before.settings?.budget, resumes };
  return { ...going.settings, ...present({ budget: budgetSettings(run, options.budget) }) };
}

function begun(models: ModelRegistry, options: RunOptions): GoingOn {
  const { inputs = {}, memory, maxSteps, untrusted, private: hidden, policy } = options;
  const security = securityGiven(options.security);
  const marked = { untrusted, private: hidden };
  const kept = { memory, maxSteps, ...marked, policy: policyDigest(policy), security, prices: models.prices };
  const settings = settingsOf(models.identity(), kept);
  return { inputs, settings, newKeys: [], formerModels: () => [] };
}

function begin({ compiled, models, options, around }: Opening, opening: Opened, owner: RunOwner): BegunRun {
  const { session, inputs, edits, announced, turn, settings } = opening;
  const { changes = {}, taken = 0 } = settings.budget ?? {};
  const { plan } = compiled;
  const counts = new StoreCounts(session.store, systemClock);
  const shared = sharedLimits({ plan, changes, models: options.models }, counts, turn?.of.id);
  const make = budgetOf([...shared, ...runLimits(plan, changes)], around);
  const durable = new RecordedDurable(session, {
    answer: answerBy(models, options.answer),
    onReplayedAnswer: (question, address) => {
      if (!isApproval(question, address) && !isGuardQuestion(address)) models.answered(question.text);
    },
    budget: make && { make, taken, counts },
    onCancel: () => owner.cancel('a cancellation was requested'),
  });
  turn?.onLost(() => owner.cancel('another process has taken over the thread'));
  const state = turn === undefined ? { inputs } : { first: turn.start(compiled, inputs), last: turn.note };
  const warnings = [...opening.warnings, ...(turn?.warnings ?? [])];
  return {
    start: {
      ...state,
      ...(edits && { edits }),
      warnings,
      announced,
      log: durable.listen,
      failedBefore: durable.failedBefore,
      durable,
    },
    close: closing(durable, turn),
  };
}

/** Ends the session as part of the record: a run whose end can't be recorded has not succeeded. */
function closing(durable: RecordedDurable, turn: Turn | undefined): (result: RunResult) => RunResult {
  return (result) => {
    const ended = attempt(result, () => turn?.prepare(result));
    const recorded = attempt(ended, () => durable.close(ended));
    // The end of the run is not recorded: the holder of the next turn resumes it.
    if (recorded !== ended) {
      turn?.abandon();
      return recorded;
    }
    return attempt(ended, () => turn?.settle(ended));
  };
}

function attempt(result: RunResult, act: () => void): RunResult {
  try {
    act();
    return result;
  } catch (error) {
    return { ...result, outcome: 'failed', error: toErrorData(error) };
  }
}

/** What is reported before anything runs, and about which steps. */
export interface Announcement {
  readonly warnings: readonly RunWarning[];
  /** Whether a step was reported to run again. */
  readonly announced: (path: string) => boolean;
}

/** Returns what is reported before a run starts: the changes since it was recorded. */
export function announcement(
  { compiled, told, options }: Pick<Opening, 'compiled' | 'told' | 'options'>,
  recorded: RecordedRun | undefined,
  going: GoingOn,
): Announcement {
  if (recorded === undefined) return { warnings: [], announced: () => false };
  const definition = { plan: compiled.plan, code: codeOf(compiled) };
  const { fork } = options;
  const start = fork === undefined ? undefined : forkStart(recorded.family, compiled.plan, fork);
  const changes = told ?? changesOf(recorded, definition, going, start);
  const paths = new Set([...changes.again, ...changes.judged, ...changes.maybe]);
  return {
    warnings: [
      ...(told === undefined ? warningsOf(recorded, changes) : []),
      ...going.newKeys.map((message) => ({ code: 'new-key', message })),
    ],
    announced: (path) => paths.size > 0 && isAround(paths, nodePathOf(path)),
  };
}

/** True if a step, or one that contains it, is among these. */
function isAround(steps: ReadonlySet<string>, path: string): boolean {
  const ids = path.split('/');
  return ids.some((_, at) => steps.has(ids.slice(0, at + 1).join('/')));
}

/** The warnings for a continued run, unless the caller has already reported the changes. */
function warningsOf(recorded: RecordedRun, changes: Changes): readonly RunWarning[] {
  const [{ cut }] = recorded.family;
  const message = changesText(changes, recorded);
  return [
    ...(cut === undefined ? [] : [{ code: 'torn-record', message: `the end of the record is incomplete: ${cut}` }]),
    ...(message === '' ? [] : [{ code: 'changed', message }]),
  ];
}

/** The back end of a run: with a store, a journal in it; without one, memory. */
export function backendOf(store: Store | undefined): Backend {
  return store === undefined ? inMemory : recordedIn(store);
}
