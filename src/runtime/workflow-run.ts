import type { OptionForms } from '../base/options.js';
import { resolve } from 'node:path';
import type { RunFolder } from '../audit/run-folder.js';
import { lazily } from '../base/collections.js';
import { systemIds } from '../base/ids.js';
import { asGiven } from '../base/json.js';
import { compile, type CompiledPlan } from '../engine/graph/compile.js';
import { firstState } from '../engine/state/inputs.js';
import type { RunHandle, RunResult } from '../engine/run.js';
import { NO_SPENDING } from '../events/spending.js';
import type { Store } from '../journal/store.js';
import type { Plan } from '../plan/plan.js';
import type { Workflow } from '../plan/workflow.js';
import { securityGiven } from '../plan/security.js';
import { unitePolicies } from '../guard/policy.js';
import { checkModels, checkPriced } from './check-models.js';
import { checkedPlan } from './checked-plan.js';
import { inMemory, type Backend } from './backends/backend.js';
import { checkGiven, checkRunOptions } from './check-run.js';
import type { Changes } from './changes.js';
import type { RecordedRun } from './going-on.js';
import { launch, openModels } from './launch.js';
import { sandboxCheck } from './guarding.js';
import type { RunOptions } from './options.js';
import { firstChanges, runLimits } from './run-limits.js';
import { checkAuditPlace, definitionPlaces } from './own-places.js';
import { isOnThread } from './threads/check-thread.js';
import type { Turn } from './threads/turn.js';

/** Options for running a workflow loaded from a file. */
export interface WorkflowRunOptions extends RunOptions {
  /** The absolute path of the folder of run folders, and how many are kept. Defaults to the workflow's setting. `false`: no run folder. */
  readonly audit?: { readonly dir: string; readonly keep?: number } | false;
  /** Whether to record streamed text of models and tools. Defaults to the workflow's setting. */
  readonly streaming?: boolean;
  /**
   * Opens the store of a new run, in place of `store`, once nothing else can keep the run from starting: a refused run writes nothing.
   * Resolves to undefined if the run is not to be recorded.
   */
  readonly openStore?: () => Promise<Store | undefined>;
  /** The record of the resumed run, and the changes already reported. If absent, the record is read and listeners get the changes. */
  readonly goesOn?: { readonly recorded: RecordedRun; readonly told: Changes };
}

/** The result of a run of a workflow. */
export interface WorkflowResult extends RunResult {
  /** The run folder, if there is one. */
  readonly auditFolder: string | undefined;
  /** Descriptions of failed writes to the run folder. */
  readonly auditFailures: readonly string[];
}

/** A workflow that was started. */
export interface WorkflowRun extends Omit<RunHandle, 'result'> {
  readonly auditFolder: string | undefined;
  /** Settles when the run folder is complete. */
  readonly result: Promise<WorkflowResult>;
}

const OWN_OPTIONS: OptionForms<Omit<WorkflowRunOptions, keyof RunOptions>> = {
  audit: 'true or false, or an object',
  streaming: 'true or false',
  openStore: 'a function',
  goesOn: 'an object',
};

/** Runs a workflow: see `runWorkflow` of `on-demand.ts`. */
export async function runWorkflow(workflow: Workflow, options: WorkflowRunOptions = {}): Promise<WorkflowRun> {
  checkRunOptions(options, OWN_OPTIONS);
  return await begun(workflow, asGiven(options));
}

async function begun(workflow: Workflow, options: WorkflowRunOptions): Promise<WorkflowRun> {
  const plan = checkedPlan(workflow);
  checkGiven(plan, options);
  const compiled = compile(plan, workflow.bindings);
  const models = openModels(options);
  const recorded = await recordOf(options);
  const inputs = await inputsOf({ compiled, models, options, recorded });
  const turn = await turnFor({ compiled, models, options });
  try {
    if (turn !== undefined) turn.start(compiled, inputs);
    else if (recorded?.family[0].begin.thread === undefined) firstState(compiled, inputs);
    // Recorded results need no model, and the steps that will still run are not known yet.
    if (recorded === undefined) {
      const security = securityGiven(options.security);
      await checkModels(plan, models, { replaced: options.models?.override !== undefined, security });
      const limits = runLimits(plan, firstChanges(plan, options.budget));
      await checkPriced(plan, models, { limits, security });
    }
    await sandboxCheck(plan, options);
    options.signal?.throwIfAborted();
    return await launchWorkflow(workflow, { compiled, models, options, inputs, recorded, turn });
  } catch (error) {
    turn?.abandon();
    throw error;
  }
}

interface Checked {
  readonly compiled: CompiledPlan;
  readonly models: ReturnType<typeof openModels>;
  readonly options: WorkflowRunOptions;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly recorded: RecordedRun | undefined;
  readonly turn: Turn | undefined;
}

async function launchWorkflow(
  workflow: Workflow,
  { compiled, models, options, inputs, recorded, turn }: Checked,
): Promise<WorkflowRun> {
  const { plan } = compiled;
  const runId = options.resume ?? options.runId ?? systemIds.next();
  const { memory } = workflow.settings;
  const folder = await openAudit(workflow, plan, { ...options, runId, inputs, recorded });
  const handle = await launchIn(folder, async () => {
    const store = options.store ?? (await options.openStore?.());
    return launch({
      compiled,
      models,
      backend: await backendFor(store),
      turn,
      origins: { definition: definitionPlaces(workflow), audit: auditFolders(workflow, options) },
      recorded,
      told: options.goesOn?.told,
      options: {
        ...(memory === undefined ? {} : { memory: memory.initial }),
        ...options,
        ...(store === undefined ? {} : { store }),
        runId,
        listeners: [...(folder === undefined ? [] : [folder.listen]), ...(options.listeners ?? [])],
      },
    });
  });
  const result = handle.result.then(async (ended) => ({
    ...ended,
    auditFolder: folder?.path,
    auditFailures: (await folder?.close(ended)) ?? [],
  }));
  return { runId, auditFolder: folder?.path, result, cancel: (reason) => handle.cancel(reason) };
}

/** The folder of run folders of this run, and the one the workflow names. */
function auditFolders({ settings }: Workflow, { audit }: WorkflowRunOptions): readonly string[] {
  const here = audit === undefined || audit === false ? [] : [audit.dir];
  return settings.audit === undefined ? here : [...here, settings.audit.dir];
}

async function recordOf({ store, resume, fork, goesOn }: WorkflowRunOptions): Promise<RecordedRun | undefined> {
  const before = resume ?? fork?.run;
  if (goesOn !== undefined || store === undefined || before === undefined) return goesOn?.recorded;
  const { readRecord } = await import('./going-on.js');
  return await readRecord(store, before);
}

/** The inputs the run begins with: the given ones, together with the recorded ones of a run that continues. */
async function inputsOf({
  compiled: { plan },
  models,
  options,
  recorded,
}: Omit<Checked, 'inputs' | 'turn'>): Promise<Checked['inputs']> {
  if (recorded === undefined) return options.inputs ?? {};
  const { goingOn } = await import('./going-on.js');
  return goingOn({ store: options.store, plan }, recorded, models.identity(), options).inputs;
}

/** One promise for all turns, so that they stand in line in the order in which they were started. */
const turns = lazily(() => import('./threads/turn-of.js'));

async function turnFor({
  compiled,
  models,
  options,
}: Pick<Checked, 'compiled' | 'models' | 'options'>): Promise<Turn | undefined> {
  const { store } = options;
  if (store === undefined || !isOnThread(options)) return undefined;
  const { turnOf } = await turns();
  const backend = await backendFor(store);
  return await turnOf({ compiled, models, options }, store, (before) => launch({ ...before, backend }));
}

/** A run that is not recorded loads no journal code. */
async function backendFor(store: Store | undefined): Promise<Backend> {
  return store === undefined ? inMemory : (await import('./backends/recorded.js')).recordedIn(store);
}

/** Removes the run folder of a run that could not start. */
async function launchIn(folder: RunFolder | undefined, start: () => Promise<RunHandle>): Promise<RunHandle> {
  try {
    return await start();
  } catch (error) {
    await folder?.discard();
    throw error;
  }
}

async function openAudit(
  workflow: Workflow,
  plan: Plan,
  options: WorkflowRunOptions & Pick<Checked, 'inputs' | 'recorded'> & { readonly runId: string },
): Promise<RunFolder | undefined> {
  const { runId, inputs, streaming, recorded } = options;
  const asked = workflow.settings.audit;
  const audit = options.audit ?? asked;
  if (audit === undefined || audit === false) return undefined;
  // A place that the program or the user names needs no check.
  if (options.audit === undefined)
    await checkAuditPlace(audit.dir, options.cwd ?? process.cwd(), unitePolicies(options.policy ?? []));
  const { findSecrets, openRunFolder } = await import('../audit/run-folder.js');
  return await openRunFolder({
    workflow,
    runId,
    project: resolve(options.cwd ?? process.cwd()),
    ...(options.resume === undefined ? {} : { before: recorded?.spent() ?? NO_SPENDING }),
    dir: audit.dir,
    keep: audit.keep ?? asked?.keep ?? 0,
    inputs,
    secrets: findSecrets({
      env: options.models?.env ?? process.env,
      folder: options.cwd ?? process.cwd(),
      plan,
      inputs,
    }),
    ...(streaming === undefined ? {} : { streaming }),
  });
}
