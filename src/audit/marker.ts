import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { digestText } from '../base/hash.js';
import { isPlainObject } from '../base/json.js';
import { RUN_MARKER } from '../base/own-names.js';

export interface Marker {
  readonly run_id: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly state: 'running' | 'ended';
  readonly pid: number;
  readonly host: string;
  /** Digest of the project's folder. Absent in older markers. */
  readonly project?: string;
}

export function ownMarker(
  { runId, project }: { readonly runId: string; readonly project: string },
  startedAt: number,
  state: Marker['state'],
): Marker {
  const started_at = new Date(startedAt).toISOString();
  return { run_id: runId, started_at, state, pid: process.pid, host: hostname(), project: projectMark(project) };
}

/** Returns the digest by which markers name a project's folder. */
export function projectMark(folder: string): string {
  return digestText(folder);
}

const LONGEST_MARKER = 4_096;

/** Reads the marker of a folder. Undefined if there is none, or if something else has its name. */
export async function readMarker(folder: string): Promise<Marker | undefined> {
  try {
    const handle = await open(
      join(folder, RUN_MARKER),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const info = await handle.stat();
      if (!info.isFile() || info.size > LONGEST_MARKER) return undefined;
      return parseMarker(await handle.readFile('utf8'));
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function parseMarker(text: string): Marker | undefined {
  const data: unknown = JSON.parse(text);
  if (!isPlainObject(data)) return undefined;
  const { run_id, started_at, state, pid, host, project } = data;
  if (typeof run_id !== 'string' || typeof started_at !== 'string' || typeof host !== 'string') return undefined;
  if (state !== 'running' && state !== 'ended') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (Number.isNaN(Date.parse(started_at))) return undefined;
  return { run_id, started_at, state, pid, host, ...(typeof project === 'string' ? { project } : {}) };
}

/** A process of another machine can't be checked. For this many milliseconds its run is taken to be in progress. */
const BELIEVED_MS = 24 * 60 * 60 * 1_000;

export function isRunning(marker: Marker, now: number): boolean {
  if (marker.state === 'ended') return false;
  if (marker.host !== hostname()) return now - Date.parse(marker.started_at) < BELIEVED_MS;
  try {
    process.kill(marker.pid, 0);
    return true;
  } catch (error) {
    // The process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
