import { resolve } from 'node:path';
import type { InputSpec, Plan } from '../../plan/plan.js';
import type { Changes, ForkStart } from '../../recorded-runs.js';
import { EXIT, printProblems, refusalReport } from '../failures.js';
import { withStore } from '../runs/with-store.js';
import { broughtBy } from '../talk/brought.js';
import { hideSecretsOf, printable } from '../view/printable.js';
import { RunLog } from '../view/run-log.js';
import { printNote, printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';
import { changeLines } from './change-report.js';
import { executeRun, runOptions } from './execute-run.js';
import { readInputs, withTexts, type GivenInput } from './given-inputs.js';
import { withInputsOfOthers } from './inputs-of-others.js';
import { toolNames, valuesFor } from './load-workflow.js';
import { checkOwn, storeFile } from './open-store.js';
import { writeOrigin } from './origin.js';
import { folderOf, loadNext, readRecordedRun, type RecordedRun } from './recorded-run.js';
import type { Recording } from './recording.js';
import type { Execution } from './report-end.js';
import { mergeFlags, type CommonFlags } from './run-flags.js';

/** The command line of `skein resume` and `skein fork`. */
export interface GoOnOptions {
  /** The run, as named by the user. */
  readonly run: string;
  readonly flags: CommonFlags;
  /** Absent for a resume. */
  readonly fork?: ForkFlags;
}

export interface ForkFlags {
  readonly inputs: readonly GivenInput[];
  /** A step that runs again, with everything after it. */
  readonly from?: string;
  /** A file in place of that of the run. */
  readonly file?: string;
}

/**
 * `skein resume` and `skein fork`: loads the file of a recorded run, reports its changes and the steps that run again, and continues.
 *
 * @throws SkeinError what keeps it from starting
 */
export function goOn(options: GoOnOptions): Promise<number> {
  const { durability } = options.flags;
  return withStore(
    async (store, root) => {
      checkOwn(store.token, storeFile(root));
      const run = await readRecordedRun(store, root, options.run);
      return await withTexts(options.fork?.inputs ?? [], goOnWith(run, options));
    },
    durability === undefined ? {} : { durability },
  );
}

async function goOnWith(run: RecordedRun, options: GoOnOptions): Promise<number> {
  const cwd = folderOf(run);
  const flags = mergeFlags(run.origin.flags, anchored(options.flags, cwd));
  const read = await readInputs(options.fork?.inputs ?? [], process.cwd());
  const given = await valuesFor(run.record.before.plan, read);
  const isKey = keyOfState(run.record.before.plan);
  // Inputs of the file only: a fork may also have set results of steps.
  const ofFile = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !isKey(name)));
  const before = ofFile(run.record.before.inputs);
  const inputs = { ...before, ...ofFile(given) };
  hideSecretsOf({ plan: run.record.before.plan, inputs });
  const recorded = Object.keys(before);
  const file = fileOf(run, options.fork);
  // Inputs that were not given to a turn came from the thread.
  const { thread } = run.record.family[0].begin;
  const mayLack = thread !== undefined;
  const pack = await broughtBy(flags, cwd);
  const next = await loadNext(run, file, { ...flags, cwd, inputs, recorded, mayLack, pack, toRun: true });
  printProblems(next.problems);
  const { plan } = next.workflow;
  if (next.broken || plan === undefined) {
    if (flags.json === true) printResult(refusalReport({ problems: next.problems }));
    return EXIT.invalid;
  }
  const again = options.fork === undefined ? undefined : await checkFork(run, plan, given, options.fork.from);
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => again?.set[name] === undefined));
  const { workflow } = next;
  const recording: Recording =
    options.fork === undefined
      ? { store: run.store, resume: run.id, before: run.record.spent() }
      : {
          store: run.store,
          fork: { run: run.id, forget: again?.forget ?? [], set: again?.set ?? {} },
          origin: writeOrigin({ root: run.root, cwd, file, flags, workflow }),
        };
  const marked = await withForeignValues(flags, options.fork, cwd);
  const execution: Execution = { ...marked, cwd, workflow, inputs: own, log: new RunLog(plan), recording };
  const told = await changesSince(run, plan, execution, again);
  const former = told.diff.steps.flatMap(({ was }) => (was === undefined ? [] : [was]));
  const costs = [...told.again, ...told.judged, ...told.maybe, ...former].some(run.record.finished);
  if (flags.quiet !== true || costs) {
    await tell(run, file, next.fromRecord, told, styleFor(process.stderr, flags.color));
  }
  const goesOn = { recorded: run.record, told };
  const whole = { ...execution, recording: { ...recording, goesOn } };
  if (plan.notation !== 'machine' || thread === undefined) return await executeRun(whole);
  const { executeTurn } = await import('../talk/resumed-turn.js');
  return await executeTurn(whole, { plan, thread: thread.id, file });
}

/** Marks the values of a fork that come from standard input or from files that are not the project's own. */
async function withForeignValues(
  flags: CommonFlags,
  fork: ForkFlags | undefined,
  cwd: string,
): Promise<Pick<Execution, 'flags' | 'told'>> {
  return await withInputsOfOthers(flags, fork?.inputs ?? [], cwd, { cwd: process.cwd(), flag: '--set' });
}

/** Returns the differences from the record: in the file, the inputs and the flags. */
async function changesSince(
  run: RecordedRun,
  plan: Plan,
  execution: Execution,
  fork: ForkPlan | undefined,
): Promise<Changes> {
  const { changesOf, codeDigests, goingOn, openModels } = await import('../../recorded-runs.js');
  const { workflow } = execution;
  const { memory } = workflow.settings;
  const options = { ...runOptions(execution), ...(memory === undefined ? {} : { memory: memory.initial }) };
  const going = goingOn({ store: run.store, plan }, run.record, openModels(options).identity(), options);
  const after = { plan, code: codeDigests(workflow.bindings, plan) };
  return changesOf(run.record, after, going, fork);
}

/** Resolves files named here, so that they stay the same wherever the run is carried out. */
export function anchored(flags: CommonFlags, cwd: string): CommonFlags {
  const here = process.cwd();
  if (here === cwd) return flags;
  const { mock, record, replay, prices, limits, auditDir, config } = flags;
  const module = toolNames(flags.tools) === undefined ? { tools: flags.tools } : {};
  // An empty script is the echo model, not a file.
  const named = Object.entries({ mock, record, replay, prices, limits, auditDir, config, ...module });
  const paths = named.filter(([, path]) => (path ?? '') !== '');
  return { ...flags, ...Object.fromEntries(paths.map(([flag, path = '']) => [flag, resolve(here, path)])) };
}

/** @throws SkeinError `SKEIN_FILE` if the named file does not exist */
function fileOf({ root, origin }: RecordedRun, fork: ForkFlags | undefined): string {
  return fork?.file === undefined ? resolve(root, origin.file) : resolve(process.cwd(), fork.file);
}

/** Reports the changes and the steps that run again. */
async function tell(run: RecordedRun, file: string, isGone: boolean, changes: Changes, style: Style): Promise<void> {
  if (isGone) {
    printNote(
      `${style.warn('note')}: ${printable(file)} no longer exists; the run continues with its recorded definition`,
    );
  }
  const [{ cut }] = run.record.family;
  if (cut !== undefined) printNote(`${style.warn('note')}: the end of the record is incomplete: ${cut}`);
  const { modelsText, placeOf } = await import('../../recorded-runs.js');
  const { diff, again, maybe, memory } = changes;
  const edited = memory || diff.steps.length + diff.inputs.length + diff.plan.length > 0;
  if (edited) printNote(`${printable(file)} is not what the run of ${printable(run.name)} was recorded with:`);
  for (const name of changes.inputs) printNote(`  input ${printable(name)} has another value`);
  if (edited || again.length + maybe.length > 0) {
    const told = { finished: run.record.finished, place: (path: string) => placeOf(path, changes) };
    for (const line of changeLines(changes, told, style)) printNote(line);
  }
  const answered = modelsText(changes, run.record);
  if (answered !== undefined) printNote(printable(answered));
}

/** What a fork runs again, and what it sets. */
interface ForkPlan extends ForkStart {
  /** Values of the state that are not inputs. */
  readonly set: Readonly<Record<string, unknown>>;
}

/**
 * Returns what a fork runs again, the first step and all that depend on it, and which of the given values are not inputs.
 *
 * @throws SkeinError `SKEIN_INPUT` for a key that the workflow does not have, `SKEIN_USAGE` for an unknown step
 */
async function checkFork(
  run: RecordedRun,
  plan: Plan,
  inputs: Readonly<Record<string, unknown>>,
  from: string | undefined,
): Promise<ForkPlan> {
  const [{ readsInput }, { forkEdits, forkStart }] = await Promise.all([
    import('../../plan.js'),
    import('../../recorded-runs.js'),
  ]);
  // A notation may accept any input; one that is neither declared nor used is still unknown.
  const isKnown = ({ name, at }: InputSpec): boolean => at !== undefined || readsInput(plan, name);
  const known = plan.inputs.filter(isKnown).map((input) => input.name);
  const others = Object.entries(inputs).filter(([name]) => !known.includes(name));
  const { family } = run.record;
  const start = from === undefined ? NOTHING : forkStart(family, plan, { from }, '--from');
  const set = Object.fromEntries(others);
  forkEdits(run.store, { ...plan, inputs: plan.inputs.filter(({ name }) => known.includes(name)) }, family, {
    run: run.id,
    forget: start.forget,
    set,
  });
  return { ...start, set };
}

/** Returns whether a name is a key of the state, or a node that has one, and not an input. */
function keyOfState({ inputs, channels, nodes }: Plan): (name: string) => boolean {
  const keys = new Set([...channels.map(({ name }) => name), ...nodes.flatMap(({ id, output = id }) => [id, output])]);
  for (const { name } of inputs) keys.delete(name);
  return (name) => keys.has(name);
}

const NOTHING: ForkStart = { forget: [], steps: [] };
