import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { toErrorData } from '../base/errors.js';
import { RUN_MARKER } from '../base/own-names.js';
import { isRunning, projectMark, readMarker, type Marker } from './marker.js';
import { isRunFolderName } from './safe-name.js';

export interface Retention {
  readonly dir: string;
  /** Number of folders to keep. 0 keeps all. */
  readonly keep: number;
  /** Name of the folder of the current run. */
  readonly current: string;
  /** Folder of the project whose run folders are removed. */
  readonly project: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

interface Candidate {
  readonly name: string;
  readonly marker: Marker;
}

/**
 * Removes all but the newest run folders, by the start of their runs. Considers only real folders with the name and marker of a run folder
 * that the same project wrote, because projects may share a folder. A renamed folder is never removed. The folders of this run and of runs
 * in progress count and stay. Links are not followed. Resolves to descriptions of failed removals.
 */
export async function removeOldRuns(retention: Retention): Promise<readonly string[]> {
  if (retention.keep <= 0) return [];
  const failures: string[] = [];
  const names = await runFolders(retention.dir);
  if (names.length <= retention.keep) return [];
  const candidates = await candidatesOf(retention, names);
  const newestFirst = candidates.toSorted((a, b) => startOf(b) - startOf(a) || (a.name < b.name ? 1 : -1));
  // The current folder is the newest, whatever the clock shows.
  const others = newestFirst.filter((candidate) => candidate.name !== retention.current);
  for (const { name, marker } of others.slice(retention.keep - 1)) {
    if (isRunning(marker, retention.now)) continue;
    try {
      await removeFolder(join(retention.dir, name));
    } catch (error) {
      failures.push(`the old run folder ${name} stays: ${toErrorData(error).message}`);
    }
  }
  return failures;
}

/** Run folders whose runs are not recorded. */
export interface Leftovers {
  readonly dir: string;
  readonly project: string;
  readonly isRecorded: (runId: string) => boolean;
  /** Only folders of runs that began longer ago than this, in milliseconds. */
  readonly olderThanMs: number;
  readonly now: number;
}

/** Finds the run folders of a project that no process writes and whose runs are not recorded. Resolves to their paths. */
export async function findLeftovers(leftovers: Leftovers): Promise<readonly string[]> {
  const { dir, isRecorded, olderThanMs, now } = leftovers;
  const there = await lstat(dir).catch(() => undefined);
  if (there?.isDirectory() !== true) return [];
  return (await candidatesOf(leftovers, await runFolders(dir)))
    .filter((one) => !isRecorded(one.marker.run_id) && !isRunning(one.marker, now) && now - startOf(one) > olderThanMs)
    .map(({ name }) => join(dir, name));
}

function startOf(candidate: Candidate): number {
  return Date.parse(candidate.marker.started_at);
}

/** Names of real folders that are named like run folders. */
async function runFolders(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && isRunFolderName(entry.name)).map(({ name }) => name);
}

async function candidatesOf(
  { dir, project }: Pick<Retention, 'dir' | 'project'>,
  names: readonly string[],
): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  const mark = projectMark(project);
  // Older markers name no project: inside the project they belong to it.
  const inside = dir.startsWith(`${project}${sep}`);
  for (const name of names) {
    const marker = await readMarker(join(dir, name));
    if (marker !== undefined && (marker.project === undefined ? inside : marker.project === mark))
      found.push({ name, marker });
  }
  return found;
}

/** The marker is removed last, so that the next run finishes an interrupted removal. */
export async function removeFolder(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  for (const name of await readdir(folder)) {
    if (name !== RUN_MARKER) await rm(join(folder, name), { recursive: true, force: true });
  }
  await rm(join(folder, RUN_MARKER), { force: true });
  await rmdir(folder);
}
