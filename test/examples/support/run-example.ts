import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hasErrors, run } from 'skein';
import type { RunResult, SkeinEvent, Workflow } from 'skein';
import { loadWorkflow } from 'skein/yaml';

/** Repository root: the examples are run from here, as their READMEs say. */
export const ROOT = resolve(import.meta.dirname, '../../..');

/** What a run of an example was like. */
export interface ExampleRun {
  readonly workflow: Workflow;
  readonly result: RunResult;
  /** Text of a step, empty when it did not succeed. */
  output(step: string): string;
  /** Ids of the steps that were skipped, in the order of the file. */
  readonly skipped: readonly string[];
  /** The prompt that a step was given. */
  prompt(step: string): string;
  /** The system prompt that a step was given. */
  system(step: string): string;
  /** Names of the tools that a step called, and how the calls ended. */
  tools(step: string): readonly string[];
  readonly events: readonly SkeinEvent[];
}

/** How an example is run. */
export interface ExampleOptions {
  readonly script?: string;
  /** The script is a model that is named, so that its tool calls really run. */
  readonly realTools?: boolean;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Path of a file of an example. */
export function exampleFile(name: string, file = 'workflow.yaml'): string {
  return resolve(ROOT, 'examples', name, file);
}

/** Whether an example is a pipeline; the others are in the DAG notation. */
export async function isPipeline(name: string): Promise<boolean> {
  return /^workflow:/m.test(await readFile(exampleFile(name), 'utf8'));
}

/** Loads an example as the command line does. */
export function loadExample(name: string, cwd = ROOT): Promise<Workflow> {
  return loadWorkflow(exampleFile(name), { cwd });
}

/** Runs an example with one of its scripts, without a key and without a person. */
export async function runExample(name: string, options: ExampleOptions = {}): Promise<ExampleRun> {
  const cwd = options.cwd ?? ROOT;
  const workflow = await loadExample(name, cwd);
  if (hasErrors(workflow.problems)) throw new Error(JSON.stringify(workflow.problems, undefined, 2));
  const events: SkeinEvent[] = [];
  const { memory } = workflow.settings;
  const script = exampleFile(name, options.script ?? 'script.yaml');
  const handle = run(workflow, {
    cwd,
    inputs: options.inputs ?? {},
    models: { env: {}, ...(options.realTools === true ? { override: `script/${script}` } : { script }) },
    listeners: [(event) => events.push(event)],
    ...(memory === undefined ? {} : { memory: memory.initial }),
  });
  const result = await handle.result;
  return { workflow, result, events, ...readers(workflow, result, events) };
}

type Readers = Pick<ExampleRun, 'output' | 'skipped' | 'prompt' | 'system' | 'tools'>;

function readers(workflow: Workflow, result: RunResult, events: readonly SkeinEvent[]): Readers {
  const nodes = workflow.plan?.nodes.map((node) => node.id) ?? [];
  const skipped = new Set(events.flatMap((event) => (isSkip(event) ? [event.path] : [])));
  const promptOf = (step: string): { readonly system: string; readonly prompt: string } => {
    for (const event of events) {
      if (event.path === step && event.type === 'step.note' && event.note.kind === 'prompt') return event.note;
    }
    throw new Error(`step ${step} was given no prompt`);
  };
  return {
    output: (step) => {
      const value = result.state[`steps.${step}.output`];
      return typeof value === 'string' ? value : '';
    },
    skipped: nodes.filter((id) => skipped.has(id)),
    prompt: (step) => promptOf(step).prompt,
    system: (step) => promptOf(step).system,
    tools: (step) =>
      events.flatMap((event) =>
        event.path === step && event.type === 'step.note' && event.note.kind === 'tool.ended'
          ? [`${event.note.tool} ${event.note.status}`]
          : [],
      ),
  };
}

function isSkip(event: SkeinEvent): boolean {
  return event.type === 'step.ended' && event.outcome === 'skipped';
}
