import { resolve } from 'node:path';
import type { Workflow } from '../plan/workflow.js';
import { loadOpenedDag } from './dag/load.js';
import { loadOpenedPipeline } from './pipeline/load.js';
import { looksLikePipeline } from './pipeline/read-pipeline.js';
import { judged } from './source/judging.js';
import type { Judging } from './source/judging.js';
import { openFile, openText } from './source/open-file.js';
import type { OpenedFile } from './source/open-file.js';
import { shownPath } from './source/files.js';

/** Where a workflow file is loaded, and how strictly it is judged. */
export interface WorkflowOptions extends Judging {
  /** Working directory: the path of the file starts here. */
  readonly cwd: string;
  /** Home directory, for `~/` and `~/.copilot/agents`. Absent: these are not looked at. */
  readonly home?: string;
  /** Steps of a DAG workflow may ask the person unless the file says otherwise. Default false. */
  readonly interactive?: boolean;
  /** Names of the inputs that will be given. */
  readonly inputs?: readonly string[];
  /** Names of the inputs that a run was begun with. They stay inputs of a DAG workflow although no text refers to them any more. */
  readonly recorded?: readonly string[];
}

/** How the text of a workflow is loaded. */
export interface WorkflowTextOptions extends WorkflowOptions {
  /** Path of the file that the text is from: relative paths in it start beside it. Default `workflow.yaml` in `cwd`. */
  readonly file?: string;
}

/**
 * Loads a workflow file, whatever notation of YAML it is written in, and the files that it names. Nothing is run, started or written. All problems
 * are collected in the result, in the order of the text; with an error among them there is no plan.
 *
 * @example
 * const workflow = await loadWorkflow('review.yaml', { cwd: process.cwd(), home: homedir() });
 * for (const problem of workflow.problems) console.error(formatProblem(problem));
 */
export async function loadWorkflow(file: string, options: WorkflowOptions): Promise<Workflow> {
  return await loadOpened(await openFile(file, options.cwd), options);
}

/**
 * Loads a workflow from its text, whatever notation of YAML it is written in. See {@link loadWorkflow}.
 *
 * @example
 * const { plan, problems } = await loadWorkflowText('agents: ...', { cwd: '/project' });
 */
export async function loadWorkflowText(text: string, options: WorkflowTextOptions): Promise<Workflow> {
  return await loadOpened(openNamed(text, options), options);
}

/**
 * Loads a pipeline: a file with `agents` and the list `workflow`. Files that its steps call may be of any notation. Nothing is run, started or
 * written.
 *
 * @example
 * const workflow = await loadPipeline('translate.yaml', { cwd: process.cwd() });
 * const { result } = await runWorkflow(workflow, { inputs: { prompt: 'Translate this draft.' } });
 */
export async function loadPipeline(file: string, options: WorkflowOptions): Promise<Workflow> {
  return await loadAsPipeline(await openFile(file, options.cwd), options);
}

/**
 * Loads a pipeline from its text. See {@link loadPipeline}.
 *
 * @example
 * const { plan, problems } = await loadPipelineText('agents: ...', { cwd: '/project' });
 */
export async function loadPipelineText(text: string, options: WorkflowTextOptions): Promise<Workflow> {
  return await loadAsPipeline(openNamed(text, options), options);
}

function openNamed(text: string, options: WorkflowTextOptions): OpenedFile {
  const file = options.file ?? 'workflow.yaml';
  return openText(text, file, resolve(options.cwd, file));
}

async function loadOpened(opened: OpenedFile, options: WorkflowOptions): Promise<Workflow> {
  const isPipeline = opened.content !== undefined && looksLikePipeline(opened.content.root);
  return isPipeline ? await loadAsPipeline(opened, options) : judged(await loadOpenedDag(opened, options), options);
}

async function loadAsPipeline(opened: OpenedFile, options: WorkflowOptions): Promise<Workflow> {
  const { cwd, inputs, lenient } = options;
  const loading = { cwd, inputs, lenient, load: createLoader(options), chain: [opened.path] };
  return judged(await loadOpenedPipeline(opened, loading), options);
}

type Loader = Parameters<typeof loadOpenedPipeline>[1]['load'];

/** Loads called files, each once. */
function createLoader(options: WorkflowOptions): Loader {
  const { cwd, lenient } = options;
  const loaded = new Map<string, Promise<Workflow>>();
  const open = async (path: string, chain: readonly string[], inputs: readonly string[]): Promise<Workflow> => {
    const opened = await openFile(shownPath(path, cwd), cwd);
    if (opened.content === undefined || !looksLikePipeline(opened.content.root)) {
      return await loadOpenedDag(opened, { ...options, inputs, recorded: [], called: true });
    }
    return await loadOpenedPipeline(opened, { cwd, lenient, load, chain });
  };
  const load: Loader = (path, chain, inputs) => {
    // What is given decides about the inputs of a DAG workflow.
    const key = JSON.stringify([path, inputs]);
    const workflow = loaded.get(key) ?? open(path, chain, inputs);
    loaded.set(key, workflow);
    return workflow;
  };
  return load;
}
