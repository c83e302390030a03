import { existsSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import type { Store } from '../../journal/store.js';
import type { Workflow } from '../../plan/workflow.js';
import type { RecordedRun as RunRecord } from '../../recorded-runs.js';
import { findRun, recordedIn } from '../runs/find-run.js';
import { loadWorkflow, untrustedWorkflow, type Loaded, type LoadOptions } from './load-workflow.js';
import { readOrigin, type RunOrigin } from './origin.js';

/** A stored run, and how it was begun. */
export interface RecordedRun {
  readonly store: Store;
  /** The folder that holds the store. */
  readonly root: string;
  readonly id: string;
  readonly name: string;
  readonly origin: RunOrigin;
  readonly record: RunRecord;
}

/** @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`; `SKEIN_FILE` for a run that the command line did not begin */
export async function readRecordedRun(store: Store, root: string, text: string): Promise<RecordedRun> {
  const id = await findRun(recordedIn(store), text);
  const { readRecord } = await import('../../recorded-runs.js');
  const record = await readRecord(store, id);
  const [history] = record.family;
  const { name } = history.begin;
  const origin = readOrigin(history.begin.origin);
  if (origin === undefined) {
    throw new SkeinError('SKEIN_FILE', `the record does not say with which file the run of ${name} began`, {
      hint: 'a program started it: continue it there, with the option resume',
    });
  }
  return { store, root, id, name, origin, record };
}

/** The working directory of a run. @throws SkeinError `SKEIN_FILE` if the folder is gone */
export function folderOf({ root, origin }: RecordedRun): string {
  const cwd = resolve(root, origin.cwd);
  if (existsSync(cwd)) return cwd;
  throw new SkeinError('SKEIN_FILE', `the folder in which the run began no longer exists: ${cwd}`, {
    hint: 'create it again, or start a new run',
  });
}

/** The name of a file of a run as it is typed here; absolute if the run began elsewhere, since names start from the folder of the run. */
export function namedHere(file: string, cwd: string): string {
  const inside = relative(cwd, file);
  return cwd === process.cwd() && !inside.startsWith('..') && !isAbsolute(inside) ? inside : file;
}

export interface NextWorkflow extends Loaded {
  /** True if the file is gone and the recorded plan replaces it. */
  readonly fromRecord: boolean;
}

/**
 * Loads the current version of a run's file. If the file is gone, uses the recorded plan, if that has no functions.
 *
 * @throws SkeinError `SKEIN_FILE`
 */
export async function loadNext(run: RecordedRun, file: string, options: LoadOptions): Promise<NextWorkflow> {
  if (existsSync(file) || file !== resolve(run.root, run.origin.file))
    return { ...(await loadWorkflow(namedHere(file, options.cwd), options)), fromRecord: false };
  if (Object.keys(run.record.before.code).length > 0) {
    throw new SkeinError('SKEIN_FILE', `the workflow file no longer exists: ${namedHere(file, options.cwd)}`, {
      hint: 'put it back, then resume the run',
    });
  }
  const workflow: Workflow = {
    plan: run.record.before.plan,
    bindings: {},
    settings: run.origin.settings,
    files: [],
    problems: [],
  };
  // The recorded plan is a text like any other and needs the user's trust.
  const text = { path: file, text: JSON.stringify(run.record.before.plan) };
  const shown = namedHere(file, options.cwd);
  const refused = await untrustedWorkflow({ ...workflow, files: [text] }, shown, options);
  const problems = refused === undefined ? [] : [refused];
  return { workflow, problems, broken: refused !== undefined, fromRecord: true };
}
