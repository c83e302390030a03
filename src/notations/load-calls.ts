import type { Position } from '../base/problem.js';
import { madeOnce } from '../base/collections.js';
import { quoteShort } from '../lang/value-text.js';
import type { Plan } from '../plan/plan.js';
import type { Workflow } from '../plan/workflow.js';
import { absolutePath, shownPath } from '../text/files.js';
import { visibleText, type Findings } from '../text/findings.js';
import type { CallDef } from './step-keys.js';
import type { Loading, WorkflowParts } from './loading.js';

/** The maximum depth of files calling files. */
const DEEPEST = 20;
/** The maximum number of steps in a workflow, including all it calls. A file called twice counts twice. */
const MOST_NODES = 20_000;

interface CallContext extends Pick<Loading, 'cwd' | 'load' | 'chain'> {
  /** The folder of the calling file: paths of called files are relative to it. */
  readonly base: string;
}

export interface Caller {
  readonly label: string;
  readonly at: Position;
  readonly call: CallDef;
}

export interface CalledFiles {
  readonly plans: ReadonlyMap<CallDef, Plan>;
  readonly workflows: readonly Workflow[];
}

/**
 * Loads the files that steps call, one after the other. Their problems become problems of the caller.
 * Problem codes: `call-cycle`, `call-depth`, `called-file`, `too-many-steps`.
 */
export async function loadCalls(
  callers: readonly Caller[],
  context: CallContext,
  findings: Findings,
): Promise<CalledFiles> {
  const plans = new Map<CallDef, Plan>();
  const workflows = new Set<Workflow>();
  let nodes = 0;
  for (const step of callers) {
    const workflow = await loadOne(step, context, findings);
    if (workflow === undefined) continue;
    workflows.add(workflow);
    if (workflow.plan === undefined) continue;
    nodes += countNodes(workflow.plan);
    if (nodes > MOST_NODES) {
      const message = `with the files that it calls the workflow has more than ${MOST_NODES} steps`;
      findings.error('too-many-steps', message, step.call.file?.at ?? step.at, 'call fewer files');
      break;
    }
    plans.set(step.call, workflow.plan);
  }
  for (const { problems } of workflows) findings.add(problems);
  return { plans, workflows: [...workflows] };
}

/** Combines the parts of a workflow with those of the files it calls. A file called by several steps appears once. */
export function withCalled(own: WorkflowParts, { workflows }: CalledFiles): WorkflowParts {
  const memory =
    own.settings.memory ?? workflows.find(({ settings }) => settings.memory !== undefined)?.settings.memory;
  const files = [...own.files, ...workflows.flatMap((workflow) => workflow.files)].toReversed();
  return {
    settings: { ...own.settings, ...(memory === undefined ? {} : { memory }) },
    files: [...new Map(files.map((file) => [file.path, file])).values()].toReversed(),
    agentFiles: new Map([...workflows.flatMap(({ agentFiles }) => [...(agentFiles ?? [])]), ...own.agentFiles]),
    toolPlaces: new Map([...workflows.flatMap(({ toolPlaces }) => [...(toolPlaces ?? [])]), ...own.toolPlaces]),
    agentFolders: [...new Set([...own.agentFolders, ...workflows.flatMap((workflow) => workflow.agentFolders ?? [])])],
  };
}

async function loadOne(step: Caller, context: CallContext, findings: Findings): Promise<Workflow | undefined> {
  const { file, inputs } = step.call;
  if (file === undefined || file.text.trim() === '') return undefined;
  const { cwd, chain } = context;
  const path = absolutePath(file.text, context.base);
  const shown = (one: string): string => visibleText(shownPath(one, cwd));
  const again = chain.indexOf(path);
  if (again !== -1) {
    const ring = [...chain.slice(again), path].map(shown).join(' -> ');
    findings.error('call-cycle', `files call each other in a circle: ${ring}`, file.at, 'leave out one of the calls');
    return undefined;
  }
  if (chain.length >= DEEPEST) {
    const message = `${step.label} calls ${quoteShort(file.text)}, deeper than ${DEEPEST} files within each other`;
    findings.error('call-depth', message, file.at, 'call it from a file further up');
    return undefined;
  }
  const workflow = await context.load(
    path,
    [...chain, path],
    inputs.map(({ name }) => name),
  );
  // A file that could not be read has no place of its own.
  if (workflow.files.length === 0) {
    for (const { code, message, hint } of workflow.problems)
      findings.error(code, `${step.label}: ${message}`, file.at, hint);
    return undefined;
  }
  if (workflow.plan?.notation === 'machine') {
    const message = `${step.label} calls ${shown(path)}, a pack: a step can't talk with it`;
    const hint = 'call a DAG workflow or a pipeline; in TypeScript, packWorkflow makes a node of a pack';
    findings.error('called-file', message, file.at, hint);
    return undefined;
  }
  if (workflow.plan === undefined) {
    const message = `${step.label} calls ${shown(path)}, which can't be loaded`;
    findings.error('called-file', message, file.at, 'see the problems of that file');
  }
  return workflow;
}

const counted = new WeakMap<Plan, number>();

/** Counts the nodes of a plan and of all plans inside it. A plan used in several places counts each time. */
function countNodes(plan: Plan): number {
  return madeOnce(counted, plan, () =>
    plan.nodes.reduce((sum, node) => sum + 1 + ('plan' in node ? countNodes(node.plan) : 0), 0),
  );
}
