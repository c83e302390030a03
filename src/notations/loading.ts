import { freezeData } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import { hasErrors } from '../base/problem.js';
import { checkPlan } from '../plan/checks.js';
import type { Plan } from '../plan/plan.js';
import { NO_BINDINGS } from '../plan/plan.js';
import { noteReadFrom } from '../plan/own-plan.js';
import type { SourceFile, Workflow } from '../plan/workflow.js';
import type { Findings } from '../text/findings.js';
import { createFindings, sortProblems } from '../text/findings.js';
import type { MachineOptions } from './machine/plan/machine-plan.js';
import type { OpenedFile } from './opened-file.js';

/** How a pack talks. */
export interface PackTalk extends MachineOptions {
  /** One of its agents: in the state that it has, or with its prompt alone. */
  readonly agent?: string;
  /** It is only looked at, with what a program brings along for it. */
  readonly onlyLooked?: boolean;
}

/** Where a workflow file is loaded, and how strictly it is judged. */
export interface WorkflowOptions {
  /** Working directory: the path of the file starts here, and agent folders, `agent_search_paths`, `extra_dirs` and `audit_dir` of a DAG workflow. */
  readonly cwd: string;
  /** Home directory, for `~/` and `~/.copilot/agents`. Absent: these are not looked at. */
  readonly home?: string;
  /** Steps of a DAG workflow may ask the person unless the file says otherwise. Default false. */
  readonly interactive?: boolean;
  /** Names of the inputs that will be given. Templates of a DAG workflow may use them although the file does not declare them. */
  readonly inputs?: readonly string[];
  /** Names of the inputs that a run was begun with. They stay inputs of a DAG workflow although no text refers to them any more. */
  readonly recorded?: readonly string[];
  /** What a file asks for and Skein does not do is a warning (`not-supported`), also where the file means something else or is less safe without it. Default false. */
  readonly lenient?: boolean;
  /** Every warning is an error: a workflow with a warning has no plan. Default false. */
  readonly strict?: boolean;
  /** The version of the schema by which a pack is judged. Absent: what 1.4 or 1.5 takes. */
  readonly packSchema?: '1.4' | '1.5';
  /** How a pack talks: its functions, its prompt. Absent: it is only looked at. */
  readonly pack?: PackTalk;
  /** Another configuration of an Agentfile, over the `agent.toml` beside it. */
  readonly config?: string;
  /** Files and folders of which this says no are not read: each is a problem (`file-outside`). Absent: all that the workflow names are read. */
  readonly mayRead?: (path: string) => boolean;
  /** Tools of an Agentfile in addition to those that only read: `write`, `bash`, `SERVER/TOOL`. */
  readonly tools?: readonly string[];
}

/** How the text of a workflow is loaded. */
export interface WorkflowTextOptions extends WorkflowOptions {
  /** Path of the file that the text is from: relative paths in it start beside it. Default `workflow.yaml` in `cwd`. */
  readonly file?: string;
}

/** Loads the workflow of a file, whatever notation it is written in. `chain` ends with this file. */
export type LoadCalled = (path: string, chain: readonly string[], inputs: readonly string[]) => Promise<Workflow>;

/** What a notation loads a file with. */
export interface Loading extends WorkflowOptions {
  /** The files that call each other down to this one, which is the last: absolute paths. A file that is called gets its inputs from the one before it. */
  readonly chain: readonly string[];
  /** Loads the files that steps call. */
  readonly load: LoadCalled;
}

/** How a notation makes a workflow of a file. All problems are collected in it; with an error among them there is no plan. */
export type LoadNotation = (opened: OpenedFile, loading: Loading) => Promise<Workflow>;

/** A file that was read as YAML. */
export interface YamlSource extends NonNullable<ReturnType<OpenedFile['yaml']>['content']> {
  readonly source: SourceFile;
}

/** Loads a file that is written in YAML: `load` makes the workflow, or nothing when the file is something else. */
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

/** What a workflow has besides its plan. */
export type WorkflowParts = Required<Pick<Workflow, 'settings' | 'files' | 'agentFiles' | 'agentFolders'>>;

/**
 * The workflow of a plan that was built. The plan is checked, unless something was found already: that would be found again, in words that are
 * further from the file.
 */
export function usable(plan: Plan, parts: WorkflowParts, findings: Findings): Workflow {
  if (!hasErrors(findings.list)) findings.add(checkPlan(freezeData(plan), NO_BINDINGS));
  noteReadFrom(plan, [...parts.files.map(({ path }) => path), ...parts.agentFolders]);
  return {
    plan: hasErrors(findings.list) ? undefined : plan,
    bindings: NO_BINDINGS,
    ...parts,
    problems: sortProblems(findings.list),
  };
}

/** A workflow of which only the problems are known. */
export function unusable(problems: readonly Problem[], files: readonly SourceFile[]): Workflow {
  return {
    plan: undefined,
    bindings: {},
    settings: { output: { format: 'markdown' } },
    files,
    problems: sortProblems(problems),
  };
}
