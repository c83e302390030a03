import type { Problem } from '../../base/problem.js';
import type { Bindings, Plan } from '../../plan/plan.js';
import type { Workflow } from '../../plan/workflow.js';
import type { Listener, RunOptions } from '../../index.js';
import type { invariantCheck } from '../../running.js';

/** The content of a module's default export. Absent fields have the defaults of any workflow. */
export interface Exported extends Partial<Omit<Workflow, 'plan' | 'bindings' | 'problems'>> {
  readonly plan: Plan | undefined;
  readonly bindings: Bindings;
  /** Absent if not yet checked. */
  readonly problems?: readonly Problem[];
  /** The key of the state whose value is the answer. */
  readonly answerKey?: string;
  /** Conditions that must hold after every node. */
  readonly watch?: Watch;
  readonly runOptions?: ModuleRunOptions;
}

export interface ModuleRunOptions extends Pick<RunOptions, 'models' | 'supervisor' | 'answer'> {
  /** Returns the listeners of a run that begins with these inputs. */
  readonly listenersOf?: (inputs: Readonly<Record<string, unknown>>) => readonly Listener[];
}

/** Invariants of a graph, and what happens when one does not hold. */
export type Watch = Omit<Parameters<typeof invariantCheck>[0], 'violated'>;

export interface NoWorkflow {
  readonly message: string;
  readonly hint: string;
}

/** An object read by name only: copies of the library share no classes. */
interface Loose {
  readonly [key: string]: unknown;
}

/**
 * Reads the default export of a module: a graph, compiled or not; a tree, with the export `runtime`; the definition of a plan; or a loaded
 * workflow.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems of a graph in `details.problems`
 */
export function readExport(value: unknown, exports: Loose): Exported | NoWorkflow {
  const names = Object.keys(exports);
  if (!isObject(value)) return noWorkflow(value, names);
  if (typeof value['compile'] === 'function') {
    const compiled: unknown = (value as { compile: (runtime: unknown) => unknown }).compile(exports['runtime']);
    const isWorkflow = isObject(compiled) && (isObject(compiled['plan']) || Array.isArray(compiled['problems']));
    return isWorkflow ? ofPlan(compiled) : noWorkflow(value, names);
  }
  const hasPlan = isObject(value['plan']) && isObject(value['bindings']);
  const hasProblems = Array.isArray(value['problems']) && value['plan'] === undefined;
  return hasPlan || hasProblems ? ofPlan(value) : noWorkflow(value, names);
}

function ofPlan(value: Loose): Exported {
  const { plan, bindings, problems, settings, files, agentFiles, agentFolders, answerKey, runOptions, listeners } =
    value;
  return {
    plan: plan as Plan | undefined,
    bindings: isObject(bindings) ? bindings : {},
    ...(Array.isArray(problems) ? { problems: problems as readonly Problem[] } : {}),
    ...(isObject(settings) && isObject(settings['output'])
      ? { settings: settings as unknown as Workflow['settings'] }
      : {}),
    ...(Array.isArray(files) ? { files: files as Workflow['files'] } : {}),
    ...(Array.isArray(agentFolders) ? { agentFolders: agentFolders as readonly string[] } : {}),
    ...(agentFiles instanceof Map ? { agentFiles: agentFiles as ReadonlyMap<string, string> } : {}),
    ...(typeof answerKey === 'string' ? { answerKey } : {}),
    ...(isObject(runOptions) ? { runOptions: { ...runOptions, ...listenersOf(listeners) } } : {}),
    ...(isObject(settings) && Array.isArray(settings['invariants']) ? { watch: settings as unknown as Watch } : {}),
  };
}

function listenersOf(listeners: unknown): Pick<ModuleRunOptions, 'listenersOf'> {
  return typeof listeners === 'function' ? { listenersOf: listeners as ModuleRunOptions['listenersOf'] & object } : {};
}

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function noWorkflow(value: unknown, names: readonly string[]): NoWorkflow {
  if (value === undefined && !names.includes('default')) {
    const [name] = names;
    return {
      message: 'the module has no default export',
      hint: name === undefined ? 'end it with: export default FLOW, the graph' : `end it with: export default ${name}`,
    };
  }
  const part = partOfTree(value);
  if (part !== undefined) {
    const steps = part === 'sequence' ? 'PART' : "sequence('main').steps(PART)";
    return {
      message: `the default export is ${part === 'agent' ? 'an' : 'a'} ${part} of a tree, not a workflow`,
      hint: `put it into one: export default workflow('NAME').add(${steps})`,
    };
  }
  const what = typeof value === 'function' ? 'a function' : Array.isArray(value) ? 'a list' : describe(value);
  return {
    message: `the default export is ${what}, not a workflow`,
    hint:
      typeof value === 'function'
        ? 'export what it makes: the graph itself'
        : 'export a graph of skein/graph, a workflow of skein/tree, what definePlan gives, or a workflow that was loaded',
  };
}

function partOfTree(value: unknown): string | undefined {
  const kind = isObject(value) && Array.isArray(value['children']) ? value['kind'] : undefined;
  return ['sequence', 'goal', 'convergence', 'agent'].find((one) => one === kind);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const keys = Object.keys(value).slice(0, 5);
  return keys.length === 0 ? 'an empty object' : `an object with ${keys.join(', ')}`;
}
