import { relative, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import { present } from '../../base/json.js';
import { definitionError } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import type { FileStore } from '../../sqlite.js';
import type { LoadedMachine, KeptState } from '../../talking.js';
import { checkOwn, storeFile } from '../run/open-store.js';
import { loadWorkflow } from '../run/load-workflow.js';
import { folderOf, namedHere, readRecordedRun } from '../run/recorded-run.js';
import { mergeFlags, type CommonFlags } from '../run/run-flags.js';
import { anchored } from '../run/go-on.js';
import { shellWord } from '../runs/text.js';
import { broughtBy, type Brought } from './brought.js';
import type { ModuleWorkflow } from '../modules/load-module.js';

/** A conversation of the store, with the current version of its pack. */
export interface KeptConversation {
  readonly thread: string;
  readonly kept: KeptState;
  readonly file: string;
  readonly cwd: string;
  /** The flags of its last turn, and the given ones. */
  readonly flags: CommonFlags;
  readonly brought: Brought;
  readonly workflow: ModuleWorkflow;
  readonly machine: LoadedMachine;
}

/**
 * Reads a conversation from the store and loads its pack.
 *
 * @throws SkeinError `SKEIN_DEFINITION` if the pack has problems, `SKEIN_NO_THREAD`, `SKEIN_USAGE` for a conversation without a pack, `SKEIN_FILE`
 */
export async function keptConversation(
  store: FileStore,
  root: string,
  { thread, flags, toRun }: { readonly thread: string; readonly flags: CommonFlags; readonly toRun: boolean },
): Promise<KeptConversation> {
  const { KeptState: Kept, machineOf } = await import('../../talking.js');
  const kept = Kept.read(store, thread);
  if (kept === undefined) throw await noThread(store, thread);
  const { record } = kept.head;
  const last = 'run' in record ? record.run : await lastRun(store, thread);
  const run = await readRecordedRun(store, root, last);
  checkOwn(store.token, storeFile(root));
  const cwd = folderOf(run);
  const merged = mergeFlags(run.origin.flags, anchored(flags, cwd));
  const path = resolve(root, run.origin.file);
  const file = relative(process.cwd(), path);
  const { trust, mock, agent, prompt } = merged;
  // Commands that only read need no functions.
  const brought = await broughtBy(toRun ? merged : { ...present({ agent, prompt }), mock: '' }, cwd);
  const { workflow, problems, broken } = await loadWorkflow(namedHere(path, cwd), {
    ...present({ trust, mock }),
    cwd,
    pack: brought,
    toRun,
  });
  // Its warnings were printed when the conversation began.
  if (broken || workflow.plan === undefined)
    throw definitionError(problems.filter(({ severity }) => severity === 'error'));
  const machine = machineOf(workflow.plan);
  if (machine !== undefined) return { thread, kept, file, cwd, flags: merged, brought, workflow, machine };
  throw new SkeinError('SKEIN_USAGE', `the thread '${thread}' is not a conversation with a pack`, {
    hint: `skein thread ${shellWord(thread)} shows it; skein run FILE --thread ${shellWord(thread)} continues it`,
  });
}

async function noThread(store: FileStore, thread: string): Promise<SkeinError> {
  const { listThreads } = await import('../../index.js');
  const names = listThreads(store).map(({ id }) => id);
  const hint = didYouMean(thread, names.slice(0, 1_000)) ?? 'skein threads lists them';
  return new SkeinError('SKEIN_NO_THREAD', `there is no thread '${thread}'`, { hint });
}

/** Returns the run of the last turn, even if the state was changed after that turn. */
async function lastRun(store: FileStore, thread: string): Promise<string> {
  const { getThread } = await import('../../index.js');
  const last = getThread(store, thread).turns.at(-1);
  if (last !== undefined) return last.runId;
  throw new SkeinError('SKEIN_USAGE', `the thread '${thread}' has no turn yet`, {
    hint: 'skein run PACK --thread NAME begins it',
  });
}
