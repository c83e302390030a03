import { constants } from 'node:fs';
import { access, open as openFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { present } from '../../base/json.js';
import type { Listener } from '../../events/event.js';
import type { Policy } from '../../plan/policy.js';
import type { Workflow } from '../../plan/workflow.js';
import type { WorkflowRunOptions } from '../../index.js';
import type { PriceTable, ProvidersLimits } from '../../prices.js';
import type { invariantCheck as InvariantCheck } from '../../running.js';
import type { Watch } from '../modules/exported.js';
import { asSeen } from '../view/run-log.js';
import { escaped, hideSecretsOf, printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';
import { styleFor, type Style } from '../view/style.js';
import { createView, type View } from '../view/view.js';
import { agentSources } from './load-workflow.js';
import { madeByOthers } from './inputs-of-others.js';
import { watchInterrupt } from './interrupt.js';
import { openedPolicies, policyLines } from './project.js';
import { nameOf, reportEnd, type Ended, type Execution } from './report-end.js';
import { createAsker } from './questions.js';
import { keptIn, type Recording } from './recording.js';
import type { CommonFlags } from './run-flags.js';
import { spokenBy } from './spoken.js';
import { toolPinsOf } from './tool-pins.js';
import { writtenFilesIn } from './written-files.js';

/** Runs a loaded workflow, prints its progress and results, and returns the exit code. */
export async function executeRun(execution: Execution): Promise<number> {
  return await reportEnd(execution, await followRun(execution));
}

/** Runs a workflow and prints its progress, but not its end. Until the run starts, a signal ends the process as usual. */
export async function followRun(execution: Execution): Promise<Ended> {
  const { flags, workflow, log, recording } = execution;
  if (flags.record !== undefined) await checkPlaceOfRecording(resolve(execution.cwd, flags.record));
  const prices = await openedPrices(flags.prices, execution.cwd);
  const limits = await openedLimits(flags.limits, execution.cwd);
  const policy = await openedPolicies(flags.policy, execution.cwd);
  const { Given, invariantCheck, isApproval, runWorkflow, typedAnswer } = await import('../../running.js');
  const before = recording?.goesOn?.recorded.before.inputs;
  hideSecretsOf({ plan: workflow.plan, inputs: { ...before, ...execution.inputs } });
  const style = styleFor(process.stderr, flags.color);
  const { quiet, verbose } = loudness(flags, workflow);
  const view = viewOf(execution, { style, quiet, verbose });
  // Removes the view however the process ends.
  const leave = (): void => view.stop();
  process.once('exit', leave);
  const answer = createAsker({
    view,
    readLine: typedAnswer,
    given: Given,
    isApproval,
    isRecorded: () => keptIn(recording?.store) !== undefined,
    yes: flags.yes ?? false,
  });
  const interrupt = watchInterrupt((name) =>
    view.say(`${name}: closing the run; the same signal again ends it without closing it`),
  );
  const check = watchedBy(workflow.watch, invariantCheck, (message) => {
    log.warnings.push(message);
    view.say(`${style.warn('warning')}: ${printable(message)}`);
  });
  for (const line of toldFirst(execution, policy, quiet)) view.say(printable(line));
  try {
    const run = await runWorkflow(workflow, {
      ...runOptions(execution),
      ...present({ prices, limits }),
      ...(policy.length === 0 ? {} : { policy }),
      ...(check === undefined ? {} : { check }),
      signal: interrupt.signal,
      // Separate listeners, so that an error in one does not keep the event from the other.
      listeners: [
        seen((event) => log.listen(event)),
        seen((event) => view.listen(event)),
        ...speaking(execution, view, quiet).map(seen),
        ...(workflow.runOptions?.listenersOf?.(execution.inputs ?? {}) ?? []),
        ...(execution.listener === undefined ? [] : [execution.listener]),
      ],
      answer: workflow.runOptions?.answer ?? answer,
    });
    const result = await run.result;
    return { result, style, quiet };
  } finally {
    view.stop();
    process.off('exit', leave);
    interrupt.release();
  }
}

/** What the user is told before the run starts. */
function toldFirst(
  { flags, workflow, cwd, told = [] }: Execution,
  policy: readonly Policy[],
  quiet: boolean,
): readonly string[] {
  if (quiet) return told;
  return [
    ...told,
    ...madeByOthers(workflow, cwd),
    ...agentSources(workflow),
    ...policyLines(policy),
    ...(workflow.notes ?? []),
    ...(flags.mock === '' ? ['--mock: no model is asked, every step answers with its prompt'] : []),
  ];
}

function viewOf(
  { flags, workflow, log, recording }: Execution,
  look: { readonly style: Style; readonly quiet: boolean; readonly verbose: boolean },
): View {
  return createView({
    ...look,
    log,
    stream: flags.stream ?? workflow.settings.streaming ?? false,
    tools: flags.exec ?? false,
    screen: process.stderr,
    env: process.env,
    nameOfRun: (runId) => nameOf(recording?.store, runId),
  });
}

/** Passes events to a listener in the form that people see. */
function seen(listener: Listener): Listener {
  return (event) => listener(asSeen(event));
}

/** Returns the check of a graph's invariants. Enforced violations end the run as its error; observed ones are warnings. */
function watchedBy(
  watch: Watch | undefined,
  checkOf: typeof InvariantCheck,
  warn: (message: string) => void,
): WorkflowRunOptions['check'] {
  if (watch === undefined) return undefined;
  return checkOf({
    ...watch,
    violated({ node, message, policy }) {
      if (policy === 'observe') warn(`workflow invariant violated (after '${node}'): ${message}`);
    },
  });
}

/** Prints the texts of agents as they arrive: to stdout, or to stderr if stdout gets the values of the file. */
function speaking({ flags, workflow: { plan } }: Execution, view: View, quiet: boolean): readonly Listener[] {
  if (flags.exec !== true || flags.json === true || flags.format !== undefined || plan === undefined) return [];
  if (plan.values !== undefined && quiet) return [];
  const [print, screen] = plan.values === undefined ? [printResult, process.stdout] : [printNote, process.stderr];
  const spoken = spokenBy(plan);
  return [
    (event) => {
      const text = spoken(event);
      if (text !== undefined) view.aside(() => print(screen.isTTY ? escaped(text) : text));
    },
  ];
}

/** The flags decide, or else `config.log_level`. */
function loudness(flags: CommonFlags, workflow: Workflow): { readonly quiet: boolean; readonly verbose: boolean } {
  const { quiet = false, verbose = false } = flags;
  if (quiet || verbose) return { quiet, verbose };
  const level = workflow.settings.logLevel;
  return { quiet: level === 'warn' || level === 'error', verbose: level === 'debug' };
}

/** A recording is written at the end of the run, so its place is checked before: it replaces nothing but an earlier recording. */
async function checkPlaceOfRecording(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory() === true) throw placeRefused(`${file}, where the recording goes, is a directory`);
  if (there !== undefined && !(there.isFile() && (await canBeReplaced(file)))) {
    throw placeRefused(`${file}, where the recording goes, is there already and is not a recording`);
  }
  const folder = dirname(file);
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    const hint = 'make the folder, or record into another one';
    throw new SkeinError('SKEIN_FILE', `${folder}, where the recording goes, can't be written to`, { hint, cause });
  }
}

async function canBeReplaced(file: string): Promise<boolean> {
  const { startOfRecording } = await import('../../running.js');
  const opened = await openFile(file).catch(() => undefined);
  if (opened === undefined) return false;
  try {
    const { buffer, bytesRead } = await opened.read({ buffer: Buffer.alloc(startOfRecording.length) });
    return bytesRead === 0 || buffer.toString() === startOfRecording;
  } finally {
    await opened.close();
  }
}

function placeRefused(message: string): SkeinError {
  return new SkeinError('SKEIN_FILE', message, { hint: 'name another file' });
}

export async function openedPrices(file: string | undefined, cwd: string): Promise<PriceTable | undefined> {
  if (file === undefined) return undefined;
  return await (await import('../../prices.js')).openPrices(resolve(cwd, file), file);
}

async function openedLimits(file: string | undefined, cwd: string): Promise<ProvidersLimits | undefined> {
  if (file === undefined) return undefined;
  return await (await import('../../prices.js')).openLimits(resolve(cwd, file), file);
}

function recordingOptions(recording: Recording | undefined): WorkflowRunOptions {
  if (recording === undefined) return {};
  const { before: _before, open, ...options } = recording;
  if (open === undefined) return options;
  return {
    ...options,
    async openStore() {
      const store = await open();
      if (store !== undefined) recording.store = store;
      return store;
    },
  };
}

export function runOptions({ flags, cwd, inputs, recording, models, workflow }: Execution): WorkflowRunOptions {
  const { mock, model, record, replay, auditDir, concurrency, maxSteps, budget, security } = flags;
  const { untrusted, private: hidden } = flags;
  const { models: own, supervisor } = workflow.runOptions ?? {};
  const [main] = workflow.files;
  return {
    ...present({ supervisor, toolPins: main && toolPinsOf(main.path) }),
    writtenFiles: writtenFilesIn(cwd),
    ...recordingOptions(recording),
    inputs,
    cwd,
    models: models ?? {
      ...own,
      ...present({ override: model, record, replay }),
      ...(mock === '' ? { mock: true } : present({ script: mock })),
    },
    allowPrivateAddresses: flags.allowPrivateAddresses ?? false,
    ...present({ concurrency, maxSteps, budget, untrusted, private: hidden, security }),
    ...(flags.stream === true || flags.verbose === true ? { streaming: true } : {}),
    ...(flags.audit ? (auditDir === undefined ? {} : { audit: { dir: resolve(cwd, auditDir) } }) : { audit: false }),
  };
}
