import { freezeData } from '../base/json.js';
import { hasErrors, type Problem } from '../base/problem.js';
import { checkPlan } from '../plan/checks.js';
import { unknownTools } from '../plan/check-tools.js';
import { NO_BINDINGS, type Plan } from '../plan/plan.js';
import { noteReadFrom } from '../plan/own-plan.js';
import type { SourceFile, Workflow } from '../plan/workflow.js';
import { createFindings, sortProblems, type Findings } from '../text/findings.js';
import type { MachineOptions } from './machine/plan/machine-plan.js';
import type { OpenedFile } from './opened-file.js';

export interface PackTalk extends MachineOptions {
  /** The agent that talks: in its state, or with its prompt alone. */
  readonly agent?: string;
  /** True if the pack is only inspected, with what a program supplies for it. */
  readonly onlyLooked?: boolean;
}

/** Where a workflow file is loaded, and how strictly it is checked. */
export interface WorkflowOptions {
  /**
   * Working directory: base of the file's path and, in a DAG, of agent folders, `agent_search_paths`, `extra_dirs`, `audit_dir`. Default:
   * that of the process.
   */
  readonly cwd?: string;
  /** Home directory, for `~/` and `~/.copilot/agents`. Undefined: these places are not searched. */
  readonly home?: string;
  /** Whether steps of a DAG workflow may ask the person, unless the file says otherwise. Default false. */
  readonly interactive?: boolean;
  /** Names of the inputs that will be given. Templates of a DAG workflow may use them even if the file does not declare them. */
  readonly inputs?: readonly string[];
  /** Names of the inputs a run began with. They stay inputs of a DAG workflow even if no text refers to them. */
  readonly recorded?: readonly string[];
  /** Turns unsupported features into warnings (`not-supported`), even those whose loss changes meaning or safety. Default false. */
  readonly lenient?: boolean;
  /** Turns warnings into errors: a workflow with a warning has no plan. Default false. */
  readonly strict?: boolean;
  /** The schema version a pack is checked against. Undefined: 1.4 or 1.5. */
  readonly packSchema?: '1.4' | '1.5';
  /** How the pack talks: its functions, its prompt. Undefined: the pack is only inspected. */
  readonly pack?: PackTalk;
  /** Another configuration for an Agentfile, applied over the `agent.toml` beside it. */
  readonly config?: string;
  /** Decides which files and folders may be read. Any other is a problem (`file-outside`). Undefined: all may be read. */
  readonly mayRead?: (path: string) => boolean;
  /** Tools of an Agentfile in addition to the read-only ones: `write`, `bash`, `SERVER/TOOL`. */
  readonly tools?: readonly string[];
}

/** How a workflow is loaded from its text. */
export interface WorkflowTextOptions extends WorkflowOptions {
  /** Path of the file the text comes from; relative paths in the text start beside it. Default `workflow.yaml` in `cwd`. */
  readonly file?: string;
}

/** Loads the workflow of a file in any notation. `chain` ends with this file. */
export type LoadCalled = (path: string, chain: readonly string[], inputs: readonly string[]) => Promise<Workflow>;

export interface PlacedOptions extends WorkflowOptions {
  readonly cwd: string;
}

export interface Loading extends PlacedOptions {
  /** Absolute paths of the files that call each other, down to this one. Each file gets its inputs from its caller. */
  readonly chain: readonly string[];
  readonly load: LoadCalled;
}

/** Builds a workflow from a file. The result holds all problems; if one of them is an error, there is no plan. */
export type LoadNotation = (opened: OpenedFile, loading: Loading) => Promise<Workflow>;

export interface YamlSource extends NonNullable<ReturnType<OpenedFile['yaml']>['content']> {
  readonly source: SourceFile;
}

/** Returns a loader for YAML files. `load` builds the workflow, or returns undefined if the file is something else. */
export function fromYaml(
  load: (file: YamlSource, loading: Loading, findings: Findings) => Promise<Workflow | undefined>,
): LoadNotation {
  return async ({ source, yaml }, loading) => {
    const { content, problems } = yaml();
    if (content === undefined) return unusable(problems, [source]);
    const findings = createFindings(loading);
    findings.add(problems);
    return (await load({ source, ...content }, loading, findings)) ?? unusable(findings.list, [source]);
  };
}

export type WorkflowParts = Required<
  Pick<Workflow, 'settings' | 'files' | 'agentFiles' | 'toolPlaces' | 'agentFolders'>
>;

/** Wraps a built plan in a workflow. It checks the plan only if no errors were found before: they would be reported again. */
export function usable(plan: Plan, parts: WorkflowParts, findings: Findings): Workflow {
  if (!hasErrors(findings.list)) addChecks(plan, parts.toolPlaces, findings);
  noteReadFrom(plan, [...parts.files.map(({ path }) => path), ...parts.agentFolders]);
  return {
    ...(hasErrors(findings.list) ? { plan: undefined, inputs: plan.inputs } : { plan }),
    bindings: NO_BINDINGS,
    ...parts,
    problems: sortProblems(findings.list),
  };
}

/** Adds the problems of a plan. Unknown tools get their lines, and those of a called file are known from that file. */
function addChecks(plan: Plan, places: WorkflowParts['toolPlaces'], findings: Findings): void {
  findings.add(checkPlan(freezeData(plan), NO_BINDINGS).filter(({ code }) => code !== 'unknown-tools'));
  const known = new Set(findings.list.map(({ message }) => message));
  findings.add(unknownTools(plan, places).filter(({ message }) => !known.has(message)));
}

export function unusable(problems: readonly Problem[], files: readonly SourceFile[]): Workflow {
  return {
    plan: undefined,
    bindings: {},
    settings: { output: { format: 'markdown' } },
    files,
    problems: sortProblems(problems),
  };
}
