import { homedir } from 'node:os';
import { SkeinError } from '../../base/errors.js';
import { asErrors, hasErrors, type Problem } from '../../base/problem.js';
import type { Workflow } from '../../plan/workflow.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import { present } from '../../base/json.js';
import { openInside, type MayRead } from './open-inside.js';
import type { TrustFlags } from './trust-gate.js';
import { powersWithoutModels, subjectOf } from './workflow-powers.js';
import type { TrustSubject } from './trusted-files.js';
import type { InputSpec, Plan } from '../../plan/plan.js';
import type { Foreseen } from '../../prices.js';
import type { WorkflowOptions } from '../../yaml.js';
import { printable } from '../view/printable.js';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Flags for how strictly workflow files are checked. */
export interface JudgingFlags {
  /** Whether every warning is an error. */
  readonly strict?: boolean;
  /** Whether unsupported features in a file are only warnings. */
  readonly lenient?: boolean;
}

export interface SurroundingFlags {
  /** A configuration that overrides the `agent.toml` beside the file. */
  readonly config?: string;
  /** Names of tools, separated by commas; for a pack, the module with its functions. */
  readonly tools?: string;
}

/** How a workflow file is loaded for the command line. */
export interface LoadOptions extends JudgingFlags, SurroundingFlags, TrustFlags {
  readonly cwd: string;
  /** Values of inputs by name. If absent, inputs are not checked. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Names of the inputs that the recorded run began with. */
  readonly recorded?: readonly string[];
  /** Values for inputs that are not given, by name. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Whether missing inputs may come from elsewhere. */
  readonly mayLack?: boolean;
  readonly interactive?: boolean;
  /** Whether to report unknown names of tools. A run reports them when it reaches the agent. */
  readonly checkTools?: boolean;
  /** The version of the schema that a pack is checked against. */
  readonly packSchema?: '1.4' | '1.5';
  /** What a pack needs for a conversation. If absent, the pack is only checked. */
  readonly pack?: NonNullable<WorkflowOptions['pack']>;
  /** Returns what is known about the run, to check budgets against. */
  readonly budgets?: () => Promise<Foreseen>;
  /** The budget of the run on the command line. */
  readonly budget?: string;
  /** Whether problems that keep a run from starting are errors, including powers that the user has not agreed to. */
  readonly toRun?: boolean;
  /** Powers that need agreement are only listed: the user is not asked. */
  readonly unasked?: true;
  /** Present if no model is called, so nothing is started or reached. */
  readonly mock?: string;
}

export interface Loaded {
  readonly workflow: ModuleWorkflow;
  readonly problems: readonly Problem[];
  /** True if the workflow can't run. */
  readonly broken: boolean;
  /** Present if files outside the project were not read, because the user has not agreed to this part. */
  readonly part?: TrustSubject;
}

/**
 * Loads a workflow file of any notation, or a module that exports a workflow, and checks its inputs. All errors are in the problems.
 */
export async function loadWorkflow(file: string, options: LoadOptions): Promise<Loaded> {
  const { part, ...workflow } = await open(file, options);
  if (part !== undefined) return { workflow, problems: workflow.problems, broken: true, part };
  checkSurroundings(options, file, workflow.plan);
  const looks = options.inputs !== undefined && options.mayLack !== true;
  const given = looks ? { ...options.defaults, ...options.inputs } : undefined;
  const own =
    options.checkTools === true || options.strict === true
      ? workflow.problems
      : workflow.problems.filter(({ code }) => code !== 'unknown-tools');
  const budgets = await problemsOfBudgets(workflow.plan, options);
  const two = options.checkTools === true ? await problemsOfCalls(workflow.plan) : [];
  const wrong = await wrongInputs(inputsOf(workflow), options.inputs);
  const missing = missingInputs(workflow, given);
  const found = [...own, ...wrong, ...missing, ...budgets, ...two];
  const isError = ({ holds }: Problem): boolean =>
    options.strict === true || (options.toRun === true && holds === true);
  const problems = found.flatMap((problem) => (isError(problem) ? asErrors([problem]) : [problem]));
  if (workflow.plan === undefined || hasErrors(problems)) return { workflow, problems, broken: true };
  const refused =
    options.toRun === true && !isModule(file) ? await untrustedWorkflow(workflow, file, options) : undefined;
  return {
    workflow,
    problems: [...problems, ...(refused === undefined ? [] : [refused])],
    broken: refused !== undefined,
  };
}

/** Returns why a loaded workflow may not run: the user does not trust it. */
export async function untrustedWorkflow(
  workflow: Workflow,
  file: string,
  options: LoadOptions,
): Promise<Problem | undefined> {
  // A pack is trusted as a file, whatever it talks with.
  const looked =
    options.pack === undefined || workflow.plan?.notation !== 'machine' ? workflow : await asFile(file, options);
  const subject = await subjectOf(looked, file, options.cwd);
  const isHarmless =
    powersWithoutModels(subject.powers).length === 0 && (await startsNothing(options.mock, options.cwd));
  if (subject.powers.length === 0 || isHarmless) return undefined;
  return await (await import('./trust-gate.js')).untrusted(subject, file, options);
}

async function asFile(file: string, { cwd, lenient, config }: LoadOptions): Promise<ModuleWorkflow> {
  return await openFile(file, { cwd, ...present({ lenient, config }) });
}

/** Returns the calls a person may be asked about, for agents that break the rule of two. */
async function problemsOfCalls(plan: Plan | undefined): Promise<readonly Problem[]> {
  return plan === undefined ? [] : (await import('../../foreseen.js')).ruleOfTwo(plan);
}

/** Inputs without a type accept any value. */
async function wrongInputs(
  inputs: readonly InputSpec[],
  given: LoadOptions['inputs'] = {},
): Promise<readonly Problem[]> {
  if (inputs.every(({ type }) => type === undefined)) return [];
  return (await import('../../plan.js')).badInputs(inputs, given);
}

/** Returns the inputs that values are given for, also of a workflow with errors: all problems are reported together. */
function inputsOf({ plan, inputs = [] }: Workflow): readonly InputSpec[] {
  return plan?.inputs ?? inputs;
}

/** Converts values to the types that a plan declares. */
export async function valuesFor(
  plan: Plan,
  given: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (plan.inputs.every(({ type }) => type === undefined)) return given;
  return (await import('../../plan.js')).typedInputs(plan.inputs, given);
}

/** A workflow without budgets loads no price table. */
async function problemsOfBudgets(
  plan: Plan | undefined,
  { budgets, budget }: LoadOptions,
): Promise<readonly Problem[]> {
  if (plan === undefined || budgets === undefined) return [];
  if (budget === undefined && !(await import('../../plan.js')).hasBudget(plan)) return [];
  return (await import('../../prices.js')).budgetProblems(plan, { ...(await budgets()), budget });
}

async function open(file: string, options: LoadOptions): Promise<ModuleWorkflow & Pick<Loaded, 'part'>> {
  if (isModule(file)) {
    const { loadModule, refusedModule } = await import('../modules/load-module.js');
    return (await refusedModule(file, options.cwd, options)) ?? (await loadModule(file, options.cwd));
  }
  if (options.trust === true) return await openFile(file, options);
  const { cwd, config } = options;
  const { opened, part } = await openInside({ file, cwd, config }, (mayRead) => openFile(file, options, mayRead));
  if (part === undefined) return opened;
  const refusal = await (await import('./trust-gate.js')).untrusted(part, file, options);
  if (refusal === undefined) return await openFile(file, options);
  return { ...opened, plan: undefined, problems: [refusal], part };
}

async function openFile(file: string, options: LoadOptions, mayRead?: MayRead): Promise<ModuleWorkflow> {
  const { cwd, inputs = {}, recorded = [], interactive = false, lenient = false, packSchema, pack, config } = options;
  const tools = toolNames(options.tools);
  const yaml = await import('../../yaml.js');
  return await yaml.loadWorkflow(file, {
    cwd,
    home: homedir(),
    inputs: Object.keys(inputs),
    recorded,
    interactive,
    lenient,
    ...(packSchema && { packSchema }),
    ...(pack && { pack }),
    ...(config !== undefined && { config }),
    ...(tools !== undefined && { tools }),
    ...(mayRead && { mayRead }),
  });
}

/** The names in `--tools`. Undefined for the module of a pack, whose name contains a dot. */
export function toolNames(tools: string | undefined): readonly string[] | undefined {
  if (tools === undefined || tools.includes('.')) return undefined;
  return tools
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export function isModule(file: string): boolean {
  return /\.(?:[cm]?[jt]s|[jt]sx)$/.test(file);
}

/** @throws SkeinError `SKEIN_USAGE` for flags of Agentfiles with another kind of file, and vice versa */
function checkSurroundings({ config, tools }: SurroundingFlags, file: string, plan: Plan | undefined): void {
  if (plan === undefined || (config === undefined && tools === undefined)) return;
  const isAgentfile = plan.notation === 'agentfile';
  const namesModule = tools !== undefined && toolNames(tools) === undefined;
  if (isAgentfile && namesModule) {
    const hint = 'write --tools write,bash';
    throw new SkeinError('SKEIN_USAGE', `--tools takes names of tools: ${file} is an Agentfile`, { hint });
  }
  const isForPack = plan.notation === 'machine' && config === undefined && namesModule;
  if (isAgentfile || isForPack) return;
  const flag = config === undefined ? '--tools' : '--config';
  const hint =
    plan.notation === 'machine' ? 'for a pack, --tools names a module such as tools.mjs' : `leave out ${flag}`;
  throw new SkeinError('SKEIN_USAGE', `${flag} is for Agentfiles; ${file} is not an Agentfile`, { hint });
}

function missingInputs(workflow: Workflow, values: LoadOptions['inputs']): readonly Problem[] {
  if (values === undefined) return [];
  return inputsOf(workflow)
    .filter((input) => input.required && input.default === undefined && !Object.hasOwn(values, input.name))
    .map((input) => ({
      code: 'missing-input',
      severity: 'error',
      message: `the input "${input.name}" is not given${input.description === undefined ? '' : ` (${input.description})`}${readersOf(workflow.plan, input.channel)}`,
      ...(input.at === undefined ? {} : { at: input.at }),
      hint: `add --input ${input.name}=VALUE, or --input-file ${input.name}=FILE`,
    }));
}

/** Lists the steps that need an input. */
function readersOf(plan: Workflow['plan'], channel: string): string {
  const reference = JSON.stringify({ channel }).slice(1, -1);
  const ids = (plan?.nodes ?? []).filter((node) => JSON.stringify(node).includes(reference)).map(({ id }) => `"${id}"`);
  if (ids.length === 0) return '';
  return `; ${ids.length === 1 ? 'step' : 'steps'} ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ' ...' : ''} ${ids.length === 1 ? 'needs' : 'need'} it`;
}

/** The file of each agent, one per line: a checkout may contain an agent with the name of one of the user's own. */
export function agentSources({ agentFiles }: Pick<Workflow, 'agentFiles'>): readonly string[] {
  return [...(agentFiles ?? [])].map(([name, file]) => `agent ${printable(name)}: ${printable(file)}`);
}

/** The notes about a workflow, as data. */
export function notesOf({ notes }: Pick<Workflow, 'notes'>): { readonly notes?: readonly string[] } {
  return notes === undefined ? {} : { notes };
}

export function agentFilesOf({ agentFiles }: Pick<Workflow, 'agentFiles'>): {
  readonly agentFiles?: Readonly<Record<string, string>>;
} {
  return agentFiles === undefined || agentFiles.size === 0 ? {} : { agentFiles: Object.fromEntries(agentFiles) };
}

/**
 * Whether a run with `--mock` starts and reaches nothing. With a script, that requires that no step makes its real call. An unreadable
 * script starts nothing either: the run reports the error before it begins.
 *
 * @param mock the value of the flag; undefined if the run has models
 */
export async function startsNothing(mock: string | undefined, cwd: string): Promise<boolean> {
  if (mock === undefined || mock === '') return mock === '';
  const { readScript } = await import('../../agent/index.js');
  try {
    const { rules } = readScript(await readFile(resolve(cwd, mock), 'utf8'), mock);
    return rules.every(({ real }) => !real);
  } catch {
    return true;
  }
}

/** What a user would be asked to trust, or the problems that keep the file from being checked. */
type Looked = { readonly subject: TrustSubject } | { readonly problems: readonly Problem[] };

/**
 * Finds the parts and powers of a file. A module is read, not loaded, because loading runs its code. If a file names others outside the
 * project that the user has not agreed to, the result is limited to this part.
 */
export async function lookAt(file: string, options: LoadOptions): Promise<Looked> {
  const { cwd } = options;
  if (isModule(file)) {
    const { subjectOfModule } = await import('../modules/load-module.js');
    const subject = await subjectOfModule(file, cwd);
    return 'code' in subject ? { problems: [subject] } : { subject };
  }
  const { workflow, problems, part } = await loadWorkflow(file, { ...options, unasked: true });
  if (part !== undefined) return { subject: part };
  return workflow.plan === undefined ? { problems } : { subject: await subjectOf(workflow, file, cwd) };
}
