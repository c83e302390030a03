import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { nodePathOf } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { Store } from '../../journal/store.js';
import type { Plan } from '../../plan/plan.js';
import type { Workflow } from '../../plan/workflow.js';
import { findRun } from '../runs/find-run.js';
import type { DefinitionOf } from './change-report.js';
import type { Loaded, LoadOptions } from './load-workflow.js';
import { loadWorkflow } from './load-workflow.js';
import type { RunOrigin } from './origin.js';
import { readOrigin } from './origin.js';
import type { CostBefore } from './recording.js';

/** A run of the store, and how it was begun. */
export interface RecordedRun {
  readonly store: Store;
  /** The folder that holds the store. */
  readonly root: string;
  readonly id: string;
  readonly name: string;
  readonly origin: RunOrigin;
  /** What its last session ran. */
  readonly definition: DefinitionOf;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly cost: CostBefore;
  /** Whether a step, given by the ids of its nodes from the outermost in, has a result, or something inside of it has. */
  readonly finished: (path: string) => boolean;
}

/**
 * What the store knows of a run that somebody names.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`; `SKEIN_FILE` for a run that the command line has not begun
 */
export async function readRecordedRun(store: Store, root: string, text: string): Promise<RecordedRun> {
  const id = findRun(store, text);
  const [{ readRun }, { readHistory, readStored }] = await Promise.all([
    import('../../index.js'),
    import('../../runtime.js'),
  ]);
  const { begin, current } = readHistory(store, id);
  const origin = readOrigin(begin.origin);
  if (origin === undefined) {
    throw new SkeinError('SKEIN_FILE', `nothing says which file the run of ${begin.name} was begun with`, {
      hint: 'it was begun by a program: go on with it there, with the option resume',
    });
  }
  const { steps, modelCalls, toolCalls, usage } = readRun(store, id);
  const done = new Set<string>();
  for (const { path, outcome } of steps) {
    if (outcome === 'succeeded') for (const part of partsOf(path)) done.add(part);
  }
  return {
    store,
    root,
    id,
    name: begin.name,
    origin,
    definition: { plan: readStored(store, current.plan) as Plan, code: current.code },
    inputs: readStored(store, current.inputs) as Readonly<Record<string, unknown>>,
    cost: { modelCalls, toolCalls, usage },
    finished: (path) => done.has(path),
  };
}

/** A step and those around it, by ids alone: visits, rounds and items of a node are one. */
function partsOf(path: string): readonly string[] {
  const ids = nodePathOf(path).split('/');
  return ids.map((_, at) => ids.slice(0, at + 1).join('/'));
}

/** Where a run is carried out. @throws SkeinError `SKEIN_FILE` when the folder is gone */
export function folderOf({ root, origin }: RecordedRun): string {
  const cwd = resolve(root, origin.cwd);
  if (existsSync(cwd)) return cwd;
  throw new SkeinError('SKEIN_FILE', `the folder that the run was begun in is gone: ${cwd}`, {
    hint: 'make it again, or begin a new run',
  });
}

/** The workflow that a run goes on with. */
export interface NextWorkflow extends Loaded {
  /** Its file is gone: it is the one that was recorded. */
  readonly fromRecord: boolean;
}

/**
 * Loads the file that a run was begun with, as it is now. When it is gone, what was recorded will do, if that has no functions.
 *
 * @throws SkeinError `SKEIN_FILE`
 */
export async function loadNext(run: RecordedRun, file: string, options: LoadOptions): Promise<NextWorkflow> {
  if (existsSync(file) || file !== resolve(run.root, run.origin.file))
    return { ...(await loadWorkflow(file, options)), fromRecord: false };
  if (Object.keys(run.definition.code).length > 0) {
    throw new SkeinError('SKEIN_FILE', `the workflow file is gone: ${file}`, {
      hint: 'put it back, then resume the run',
    });
  }
  const workflow: Workflow = {
    plan: run.definition.plan,
    bindings: {},
    settings: run.origin.settings,
    files: [],
    problems: [],
  };
  return { workflow, problems: [], broken: false, fromRecord: true };
}
