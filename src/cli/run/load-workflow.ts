import { homedir } from 'node:os';
import type { Problem } from '../../base/problem.js';
import { hasErrors } from '../../base/problem.js';
import type { Workflow } from '../../plan/workflow.js';

/** How a workflow file is loaded for the command line. */
export interface LoadOptions {
  readonly cwd: string;
  /** Values of inputs by name; absent: they are not looked at. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Values for inputs of these names that are not given. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly interactive?: boolean;
}

/** A workflow file that was loaded, and what is wrong with it and with its inputs. */
export interface Loaded {
  readonly workflow: Workflow;
  readonly problems: readonly Problem[];
  /** It can't be run. */
  readonly broken: boolean;
}

/**
 * Loads a workflow file, whatever notation it is written in, and compares its inputs with what is given. Everything that is wrong is in the problems.
 *
 * @example
 * const { workflow, broken } = await loadWorkflow('review.yaml', { cwd: process.cwd(), inputs: {} });
 */
export async function loadWorkflow(file: string, options: LoadOptions): Promise<Loaded> {
  const yaml = await import('../../yaml.js');
  const workflow = await yaml.loadWorkflow(file, {
    cwd: options.cwd,
    home: homedir(),
    inputs: Object.keys(options.inputs ?? {}),
    interactive: options.interactive ?? false,
  });
  const given = options.inputs === undefined ? undefined : { ...options.defaults, ...options.inputs };
  const problems = [...workflow.problems, ...missingInputs(workflow, given)];
  return { workflow, problems, broken: workflow.plan === undefined || hasErrors(problems) };
}

function missingInputs(workflow: Workflow, values: LoadOptions['inputs']): readonly Problem[] {
  if (values === undefined || workflow.plan === undefined) return [];
  return workflow.plan.inputs
    .filter((input) => input.required && input.default === undefined && !Object.hasOwn(values, input.name))
    .map((input) => ({
      code: 'missing-input',
      severity: 'error',
      message: `the input "${input.name}" is not given${input.description === undefined ? '' : ` (${input.description})`}`,
      ...(input.at === undefined ? {} : { at: input.at }),
      hint: `add --input ${input.name}=VALUE, or --input-file ${input.name}=FILE`,
    }));
}
