import { basename, dirname, extname } from 'node:path';
import { freezeData } from '../../base/json.js';
import { hasErrors } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import { checkPlan } from '../../plan/checks.js';
import type { Plan } from '../../plan/plan.js';
import { NO_BINDINGS } from '../../plan/plan.js';
import { noteReadFrom } from '../../plan/read-from.js';
import type { SourceFile, Workflow, WorkflowSettings } from '../../plan/workflow.js';
import { createFindings, sortProblems } from '../source/findings.js';
import type { Findings } from '../source/findings.js';
import { unusable } from '../source/open-file.js';
import type { OpenedFile } from '../source/open-file.js';
import { buildPlan } from './build-plan.js';
import { loadCalls } from './load-calls.js';
import type { CalledFiles, LoadCalled } from './load-calls.js';
import type { PipelineDef } from './definition.js';
import { readPipeline } from './read-pipeline.js';
import { resultNodes } from './results.js';

/** What a pipeline is loaded with. */
export interface PipelineLoading {
  readonly cwd: string;
  /** Names of the inputs that will be given. Absent: they are not looked at. */
  readonly inputs?: readonly string[] | undefined;
  /** What is not supported is a warning, whatever is lost by it. */
  readonly lenient?: boolean | undefined;
  /** Loads the files that steps call. */
  readonly load: LoadCalled;
  /** The files that call each other down to this one, which is the last: absolute paths. */
  readonly chain: readonly string[];
}

/**
 * Loads a pipeline from a file that is open already. All problems are collected in the result; with an error among them there is no plan.
 *
 * @example
 * const workflow = await loadOpenedPipeline(opened, { cwd, load, chain: [opened.path] });
 */
export async function loadOpenedPipeline(opened: OpenedFile, loading: PipelineLoading): Promise<Workflow> {
  const { source, content } = opened;
  const files = source === undefined ? [] : [source];
  if (content === undefined) return unusable(opened.problems, files);
  const findings = createFindings({ lenient: loading.lenient });
  findings.add(opened.problems);
  const definition = readPipeline(content.root, nameOf(opened.path), findings);
  if (definition === undefined) return unusable(findings.list, files);
  const base = dirname(opened.path);
  const called = await loadCalls(definition, { ...loading, base }, findings);
  const plan = buildPlan(definition, { yaml: content.yaml, calls: called.plans }, findings);
  checkGiven(loading.inputs ?? [], plan, findings);
  // What is wrong here would be found again there, in words that are further from the file.
  if (!hasErrors(findings.list)) findings.add(checkPlan(freezeData(plan), NO_BINDINGS));
  const isUsable = !hasErrors(findings.list);
  const all = [...files, ...otherFiles(called, opened.path)];
  const agentFolders = [...new Set(called.workflows.flatMap((workflow) => workflow.agentFolders ?? []))];
  noteReadFrom(plan, [...all.map(({ path }) => path), ...agentFolders]);
  return {
    plan: isUsable ? plan : undefined,
    bindings: NO_BINDINGS,
    settings: isUsable ? settingsOf(plan, definition, called) : { output: { format: 'markdown' } },
    files: all,
    agentFiles: new Map(called.workflows.flatMap((workflow) => [...(workflow.agentFiles ?? [])])),
    agentFolders,
    problems: sortProblems(findings.list),
  };
}

/** The name of a file without its ending; a name that is nothing but an ending stays. */
function nameOf(path: string): string {
  return basename(path, extname(path)) || 'workflow';
}

function checkGiven(given: readonly string[], plan: Plan, findings: Findings): void {
  const known = plan.inputs.map((input) => input.name);
  for (const name of new Set(given)) {
    if (known.includes(name)) continue;
    const hint = findings.near(name, known) ?? `inputs are: ${known.join(', ')}`;
    findings.error('unknown-input', `a pipeline has no input ${quoteShort(name)}`, undefined, hint);
  }
}

function settingsOf(plan: Plan, definition: PipelineDef, called: CalledFiles): WorkflowSettings {
  const output: WorkflowSettings['output'] = { nodes: resultNodes(plan), format: 'markdown' };
  const inner = called.workflows.find(({ settings }) => settings.memory !== undefined)?.settings.memory;
  const remembers = [...definition.agents.values()].some(({ spec }) => spec.memory !== undefined);
  const memory = inner ?? (remembers ? { initial: '' } : undefined);
  return memory === undefined ? { output } : { output, memory };
}

/** Each file once, also when several steps call it. */
function otherFiles(called: CalledFiles, path: string): readonly SourceFile[] {
  const all = called.workflows.flatMap(({ files }) => files).filter((file) => file.path !== path);
  return [...new Map(all.map((file) => [file.path, file])).values()];
}
