import { lstat, mkdir, readdir, realpath, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { systemClock } from '../base/clock.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { AUDIT_FOLDER, IGNORE_FILE, RUN_MARKER } from '../base/own-names.js';
import type { Listener } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import type { Workflow } from '../plan/workflow.js';
import { keepCheckpoints } from './checkpoint-log.js';
import { FileWriter, replaceFile } from './file-writer.js';
import type { EarlierFolder } from './earlier-folder.js';
import { takeEarlier } from './earlier-folder.js';
import type { Keeper, KeeperOptions, RunEnd } from './keeper.js';
import { ownMarker } from './marker.js';
import { keepMemory } from './memory-file.js';
import { createRedactor } from '../secrets/redact.js';
import type { Redactor } from '../secrets/redact.js';
import { removeOldRuns } from './retention.js';
import { keepLog } from './run-log.js';
import { runFolderName } from './safe-name.js';

export { findSecrets } from '../secrets/find-secrets.js';

/** All that is kept in a run folder. They close in this order: the last one writes the marker, which says that the folder is complete. */
const KEEPERS: readonly ((options: KeeperOptions) => Keeper)[] = [keepMemory, keepCheckpoints, keepLog];

/** What a run folder is made from. */
export interface RunFolderOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  /** Folder of run folders; absolute. */
  readonly dir: string;
  /** How many run folders stay; 0 keeps all. */
  readonly keep: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Values that must not appear in any file. */
  readonly secrets: readonly string[];
  /** Record what models and tools say as it happens. Default: as the workflow's settings say. */
  readonly streaming?: boolean;
  /** Milliseconds since 1970. Default: now. */
  readonly startedAt?: number;
  /** The folder of the project: only run folders of its runs are removed. Default: the one that `dir` lies in. */
  readonly project?: string;
  /** What earlier sessions of the run have spent. Such a run goes on: its folder is written anew in the place where it is. */
  readonly before?: Spending;
}

/** A run folder that is being written. */
export interface RunFolder {
  /** Where it is. */
  readonly path: string;
  /** Takes an event; never throws, never waits. */
  readonly listen: Listener;
  /**
   * Ends the record: `final_output.md` is written from the result, then the metadata. Waits until everything is on the disk.
   * Gives what could not be written. A second call changes nothing.
   */
  close(result?: RunEnd): Promise<readonly string[]>;
  /** Takes everything back: the run was refused after all. Never throws. */
  discard(): Promise<void>;
}

/**
 * Makes the folder of a run below `dir`, which is made too, and writes down what is known before the run: its marker, the
 * metadata with the status `running`, the workflow file, the first text of the shared memory. Pass `listen` to the run, and call
 * `close` when it has ended, or `discard` when it never began. Older run folders are removed in the background as soon as the run has begun;
 * `keep` of them stay.
 *
 * A run that goes on keeps its folder, which is written anew; no other folder that exists is used. Folders and files are for their owner alone,
 * and a `dir` that is a link is refused. Files are replaced as a whole, so that whatever happens they can be read;
 * they are not synced to the disk one by one, so a power cut may lose the last of them.
 *
 * @throws SkeinError `SKEIN_AUDIT` when the folder or its first files can't be written.
 */
export async function openRunFolder(given: RunFolderOptions): Promise<RunFolder> {
  const options = { ...given, project: given.project ?? dirname(resolve(given.dir)) };
  const startedAt = options.startedAt ?? systemClock.now();
  const redactor = createRedactor(options.secrets);
  const { dir, name, made, earlier } = await makeFolder(options, startedAt, redactor);
  const path = join(dir, name);
  const writer = new FileWriter(path, ['steps']);
  const keepers = KEEPERS.map((open) => open({ ...options, startedAt, redactor, writer }));
  await writeFirstFiles(path, options, keepers, redactor, startedAt);
  let removal: Promise<readonly string[]> | undefined;
  // Not before the run has begun: one that is refused leaves the others as they are.
  const removeOnce = (): Promise<readonly string[]> => (removal ??= removeOld(options, dir, name, earlier));
  let closing: Promise<readonly string[]> | undefined;
  return {
    path,
    listen(event) {
      void removeOnce();
      for (const keeper of keepers) guarded(writer, `${event.type} ${event.path}`, () => keeper.listen?.(event));
    },
    close(result) {
      closing ??= end(keepers, writer, removeOnce(), result);
      return closing;
    },
    async discard() {
      await writer.idle();
      await takeBack(path, made, earlier);
    },
  };
}

/** Options with the folder of the project. */
type Placed = RunFolderOptions & { readonly project: string };

async function removeOld(
  { keep, project }: Placed,
  dir: string,
  current: string,
  earlier: EarlierFolder | undefined,
): Promise<readonly string[]> {
  try {
    await earlier?.remove();
    return await removeOldRuns({ dir, keep, current, project, now: systemClock.now() });
  } catch (error) {
    return [`old run folders stay: ${toErrorData(error).message}`];
  }
}

/** Removes the folder of a run, and those above it that were made for it and hold nothing else. */
async function takeBack(path: string, made: readonly string[], earlier: EarlierFolder | undefined): Promise<void> {
  try {
    if (earlier !== undefined) {
      await earlier.putBack();
      return;
    }
    await rm(path, { recursive: true, force: true });
    const [left, ...more] = made.length > 0 ? await readdir(dirname(path)) : [];
    if (left === IGNORE_FILE && more.length === 0) await rm(join(dirname(path), left));
    for (const folder of made.toReversed()) await rmdir(folder);
  } catch {
    // Somebody else has put something into it, or it can't be removed: then it stays.
  }
}

async function end(
  keepers: readonly Keeper[],
  writer: FileWriter,
  removal: Promise<readonly string[]>,
  result: RunEnd | undefined,
): Promise<readonly string[]> {
  for (const keeper of keepers) guarded(writer, 'the end of the run', () => keeper.close?.(result));
  await writer.idle();
  return [...writer.problems, ...(await removal)];
}

/** One that throws costs its own files alone. */
function guarded(writer: FileWriter, what: string, body: () => void): void {
  try {
    body();
  } catch (error) {
    writer.failed(what.trim(), error);
  }
}

/** Names with the same second and the same end of the run id, before it is given up. */
const MOST_TWINS = 100;

interface MadeFolder {
  readonly dir: string;
  readonly name: string;
  /** Folders above it that were made for it. */
  readonly made: readonly string[];
  readonly earlier?: EarlierFolder | undefined;
}

async function makeFolder(options: RunFolderOptions, startedAt: number, redactor: Redactor): Promise<MadeFolder> {
  const wanted = runFolderName(startedAt, redactor.text(options.workflow.plan?.name ?? ''), options.runId);
  try {
    const made = await makeFolders(resolve(options.dir));
    if (made.at(-1) === resolve(options.dir)) await ignoreItself(options.dir);
    // From here on only the real place counts: a link that is changed later leads nobody elsewhere.
    if ((await lstat(options.dir)).isSymbolicLink()) throw new Error('it is a link, and would lead elsewhere');
    const dir = await realpath(options.dir);
    const earlier = options.before !== undefined ? await takeEarlier(dir, options.runId, startedAt) : undefined;
    if (earlier !== undefined && (await makeNew(join(dir, earlier.name))))
      return { dir, name: earlier.name, made, earlier };
    for (let twin = 1; twin <= MOST_TWINS; twin += 1) {
      const name = twin === 1 ? wanted : `${wanted}-${twin}`;
      if (await makeNew(join(dir, name))) return { dir, name, made };
    }
  } catch (error) {
    throw unwritable(options.dir, error);
  }
  throw unwritable(options.dir, new Error(`${MOST_TWINS} folders have the name ${wanted}`));
}

/** Makes a folder and what is above it, and gives those that were not there, from the top. With `recursive`, Node tries for ever where the system denies that the parent is there, as in /proc. */
async function makeFolders(path: string): Promise<string[]> {
  try {
    if (await makeNew(path)) return [path];
    if (!(await stat(path)).isDirectory()) await mkdir(path);
    return [];
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    const above = await makeFolders(parent);
    return (await makeNew(path)) ? [...above, path] : above;
  }
}

/** What runs write into a project is nothing to commit; a folder of a name that somebody chose is theirs. */
async function ignoreItself(dir: string): Promise<void> {
  if (basename(dir) === AUDIT_FOLDER) await writeFile(join(dir, IGNORE_FILE), '*\n', { flag: 'wx' });
}

async function makeNew(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function writeFirstFiles(
  path: string,
  options: Placed,
  keepers: readonly Keeper[],
  redactor: Redactor,
  startedAt: number,
): Promise<void> {
  const { workflow } = options;
  const source = workflow.files[0];
  try {
    await replaceFile(join(path, RUN_MARKER), `${JSON.stringify(ownMarker(options, startedAt, 'running'))}\n`);
    await mkdir(join(path, 'steps'), { mode: 0o700 });
    if (source !== undefined) await replaceFile(join(path, snapshotName(source.path)), redactor.text(source.text));
    const files = keepers.flatMap((keeper) => keeper.first?.() ?? []);
    for (const [name, text] of files) await replaceFile(join(path, name), text);
  } catch (error) {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw unwritable(path, error);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function snapshotName(file: string): string {
  const extension = extname(file).toLowerCase();
  return /^\.[a-z0-9]{1,12}$/.test(extension) && extension !== '.yml' ? `workflow${extension}` : 'workflow.yaml';
}

function unwritable(path: string, cause: unknown): SkeinError {
  return new SkeinError('SKEIN_AUDIT', `the audit folder ${path} cannot be written: ${toErrorData(cause).message}`, {
    hint: 'make it writable, or name another one with config.audit_dir or --audit-dir',
    cause,
  });
}
