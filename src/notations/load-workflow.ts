import { checkOptions, type OptionForms } from '../base/options.js';
import { resolve } from 'node:path';
import { madeOnce } from '../base/collections.js';
import { asErrors, holdingBack } from '../base/problem.js';
import type { Workflow } from '../plan/workflow.js';
import { shownPath } from '../text/files.js';
import {
  unusable,
  type LoadCalled,
  type Loading,
  type PlacedOptions,
  type WorkflowOptions,
  type WorkflowTextOptions,
} from './loading.js';
import { openFile, openText, type OpenedFile } from './opened-file.js';
import { NOTATIONS, notationOf, type NotationId } from './registry.js';

/**
 * Loads a workflow file in any notation, and the files it names. Loading runs, starts and writes nothing. All problems are collected in the
 * result, in the order of the text. If one of them is an error, there is no plan.
 *
 * @example
 * const workflow = await loadWorkflow('review.yaml', { home: homedir() });
 * for (const problem of workflow.problems) console.error(formatProblem(problem));
 */
export async function loadWorkflow(file: string, options: WorkflowOptions = {}): Promise<Workflow> {
  return await loadFile(file, options);
}

/**
 * Loads a workflow in any notation from its text. See {@link loadWorkflow}.
 *
 * @example
 * const { plan, problems } = await loadWorkflowText('agents: ...', { cwd: '/project' });
 */
export async function loadWorkflowText(text: string, options: WorkflowTextOptions = {}): Promise<Workflow> {
  return await loadText(text, options);
}

/**
 * Loads a DAG workflow file and the agent and skill files it names. See {@link loadWorkflow}.
 *
 * @example
 * const workflow = await loadDag('review.yaml', { home: homedir() });
 * for (const problem of workflow.problems) console.error(formatProblem(problem));
 */
export async function loadDag(file: string, options: WorkflowOptions = {}): Promise<Workflow> {
  return await loadFile(file, options, 'dag');
}

/**
 * Loads a DAG workflow from its text. Agent and skill files it names are read from disk. See {@link loadDag}.
 *
 * @example
 * const { plan, problems } = await loadDagText('name: hi\nsteps: ...', { cwd: '/project' });
 */
export async function loadDagText(text: string, options: WorkflowTextOptions = {}): Promise<Workflow> {
  return await loadText(text, options, 'dag');
}

/**
 * Loads a pipeline: a file with `agents` and the list `workflow`. Its steps may call files in any notation. See {@link loadWorkflow}.
 *
 * @example
 * const workflow = await loadPipeline('translate.yaml');
 * const { result } = await runWorkflow(workflow, { inputs: { prompt: 'Translate this draft.' } });
 */
export async function loadPipeline(file: string, options: WorkflowOptions = {}): Promise<Workflow> {
  return await loadFile(file, options, 'pipeline');
}

/**
 * Loads a pipeline from its text. See {@link loadPipeline}.
 *
 * @example
 * const { plan, problems } = await loadPipelineText('agents: ...', { cwd: '/project' });
 */
export async function loadPipelineText(text: string, options: WorkflowTextOptions = {}): Promise<Workflow> {
  return await loadText(text, options, 'pipeline');
}

async function loadFile(file: string, given: WorkflowOptions, id?: NotationId): Promise<Workflow> {
  checkOptions<WorkflowOptions>('the loader of a workflow', given, OPTIONS);
  const options = placed(given);
  const opened = await openFile(file, options);
  return 'source' in opened ? await loadOpened(opened, options, id) : unusable(opened, []);
}

async function loadText(text: string, given: WorkflowTextOptions, id?: NotationId): Promise<Workflow> {
  checkOptions<WorkflowTextOptions>('the loader of a workflow', given, { ...OPTIONS, file: 'text' });
  const options = placed(given);
  const { file = 'workflow.yaml' } = given;
  return await loadOpened(openText(text, file, resolve(options.cwd, file)), options, id);
}

const OPTIONS: OptionForms<WorkflowOptions> = {
  cwd: 'text',
  home: 'text',
  interactive: 'true or false',
  inputs: 'a list of texts',
  recorded: 'a list of texts',
  lenient: 'true or false',
  strict: 'true or false',
  packSchema: 'text',
  pack: 'an object',
  config: 'text',
  mayRead: 'a function',
  tools: 'a list of texts',
};

function placed(options: WorkflowOptions): PlacedOptions {
  return { ...options, cwd: options.cwd ?? process.cwd() };
}

/** Loads an opened file; under `strict`, every warning becomes an error. */
async function loadOpened(opened: OpenedFile, options: PlacedOptions, id?: NotationId): Promise<Workflow> {
  const loading = { ...options, chain: [opened.source.path], load: createLoader(options) };
  const workflow = await loadAs(id ?? notationOf(opened), opened, loading);
  if (options.strict !== true || workflow.problems.length === 0) return workflow;
  return { ...workflow, plan: undefined, problems: asErrors(workflow.problems) };
}

async function loadAs(id: NotationId, opened: OpenedFile, loading: Loading): Promise<Workflow> {
  const { load } = await NOTATIONS[id].code();
  return await load(opened, loading);
}

function createLoader(options: PlacedOptions): LoadCalled {
  const loaded = new Map<string, Promise<Workflow>>();
  const open = async (path: string, chain: readonly string[], inputs: readonly string[]): Promise<Workflow> => {
    const opened = await openFile(shownPath(path, options.cwd), options);
    if (!('source' in opened)) return unusable(opened, []);
    const workflow = await loadAs(notationOf(opened), opened, { ...options, inputs, recorded: [], chain, load });
    // A file with such problems can be inspected directly, but cannot be part of another workflow.
    const held = holdingBack(workflow.problems);
    return held.length === 0 ? workflow : { ...workflow, plan: undefined, problems: held };
  };
  // The given inputs affect which inputs a DAG workflow has, so they are part of the key.
  const load: LoadCalled = (path, chain, inputs) =>
    madeOnce(loaded, JSON.stringify([path, inputs]), () => open(path, chain, inputs));
  return load;
}
