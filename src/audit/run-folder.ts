import { lstat, mkdir, readdir, realpath, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { systemClock } from '../base/clock.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { AUDIT_FOLDER, IGNORE_FILE, RUN_MARKER } from '../base/own-names.js';
import type { Listener } from '../events/event.js';
import type { Spending } from '../events/spending.js';
import type { Workflow } from '../plan/workflow.js';
import { createRedactor, type Redactor } from '../secrets/redact.js';
import { keepCheckpoints } from './checkpoint-log.js';
import { takeEarlier, type EarlierFolder } from './earlier-folder.js';
import { FileWriter, replaceFile } from './file-writer.js';
import type { Keeper, KeeperOptions, RunEnd } from './keeper.js';
import { ownMarker } from './marker.js';
import { removeOldRuns } from './retention.js';
import { keepLog } from './run-log.js';
import { runFolderName } from './safe-name.js';

export { findSecrets } from '../secrets/find-secrets.js';

/** All keepers of a run folder. They close in this order: the last one writes the marker, which tells that the folder is complete. */
const KEEPERS: readonly ((options: KeeperOptions) => Keeper)[] = [keepMemory, keepCheckpoints, keepLog];

export interface RunFolderOptions {
  readonly workflow: Workflow;
  readonly runId: string;
  /** Absolute path of the folder of run folders. */
  readonly dir: string;
  /** Number of run folders to keep. 0 keeps all. */
  readonly keep: number;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Values that must not appear in any file. */
  readonly secrets: readonly string[];
  /** Whether to record streamed text of models and tools. Defaults to the workflow's setting. */
  readonly streaming?: boolean;
  /** Milliseconds since 1970. Defaults to now. */
  readonly startedAt?: number;
  /** The project's folder: only run folders of its runs are removed. Defaults to the folder that contains `dir`. */
  readonly project?: string;
  /** Spending of earlier sessions. If present, the run continues, and its folder is written anew in its place. */
  readonly before?: Spending;
}

export interface RunFolder {
  readonly path: string;
  /** Receives an event. Never throws and never waits. */
  readonly listen: Listener;
  /** Ends the record: `final_output.md`, then the metadata. Resolves to descriptions of failed writes when all is on disk. */
  close(result?: RunEnd): Promise<readonly string[]>;
  /** Removes the folder of a run that was refused. Never throws. */
  discard(): Promise<void>;
}

/**
 * Creates the folder of a run below `dir`, which is created too, and writes what is known before the run: the marker, the metadata with the
 * status `running`, the workflow file, the initial text of the shared memory. Pass `listen` to the run. Call `close` when it has ended, or
 * `discard` if it never began. Older run folders are removed in the background once the run has begun; `keep` of them stay.
 *
 * A run that continues keeps its folder, which is written anew; no other existing folder is used. Only the owner can access the folders and
 * files, and a `dir` that is a link is refused. Files are replaced as a whole, so that they are always readable; they are not synced to
 * disk one by one, so a power cut may lose the last of them.
 *
 * @throws SkeinError `SKEIN_AUDIT` if the folder or its first files can't be written.
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
  // Only once the run has begun: a refused run leaves the other folders as they are.
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

/** Removes the folder of a run, and the empty folders above that were created for it. */
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
    // The folder stays if others put files into it, or if it can't be removed.
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

/** A keeper that throws loses only its own files. */
function guarded(writer: FileWriter, what: string, body: () => void): void {
  try {
    body();
  } catch (error) {
    writer.failed(what.trim(), error);
  }
}

/** Maximum number of attempts to find a free name for the same second and the same end of the run id. */
const MOST_TWINS = 100;

interface MadeFolder {
  readonly dir: string;
  readonly name: string;
  /** Folders above it that were created for it. */
  readonly made: readonly string[];
  readonly earlier?: EarlierFolder | undefined;
}

async function makeFolder(options: RunFolderOptions, startedAt: number, redactor: Redactor): Promise<MadeFolder> {
  const wanted = runFolderName(startedAt, redactor.text(options.workflow.plan?.name ?? ''), options.runId);
  try {
    const made = await makeFolders(resolve(options.dir));
    if (made.at(-1) === resolve(options.dir)) await ignoreItself(options.dir);
    // Only the real path counts from here on: a link that changes later has no effect.
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

/** Creates a folder and its missing parents. Returns those created, from the top. Node's `recursive` never ends in places like /proc. */
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

/** What runs write into a project is not for commits. A folder with a chosen name belongs to the user. */
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

const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

function unwritable(path: string, cause: unknown): SkeinError {
  const first = NO_ROOM.has(codeOf(cause)) ? 'free some space' : 'make it writable';
  return new SkeinError('SKEIN_AUDIT', `the audit folder ${path} cannot be written: ${toErrorData(cause).message}`, {
    hint: `${first}, name another one with config.audit_dir or --audit-dir, or have none: --no-audit`,
    cause,
  });
}

const FILE = 'memory.md';

function keepMemory({ workflow, writer, redactor }: KeeperOptions): Keeper {
  const { memory } = workflow.settings;
  let text = memory?.initial ?? '';
  return {
    first: () => (memory === undefined ? [] : [[FILE, redactor.text(text)]]),
    listen(event) {
      if (event.type !== 'step.note' || event.note.kind !== 'memory') return;
      const { mode, text: added } = event.note;
      // Same rule as in the memory: an entry begins on a new line.
      if (mode === 'replace' || text === '') text = added;
      else text = `${text}${text.endsWith('\n') ? '' : '\n'}${added}`;
      writer.write(FILE, () => redactor.text(text));
    },
  };
}
