import { readdirSync, readFileSync } from 'node:fs';

/** Processes that one program may have at once, all that it started included. */
export const MOST_PROCESSES = 1_000;
const LOOK_MS = 250;

/**
 * Calls `crowded` once when a program has too many processes. They are counted where the system tells (Linux): those below it, and those of its
 * session. The limit of the system itself would count what else the user runs, and does not hold for root.
 *
 * @returns ends the counting
 */
export function onCrowd(root: number, crowded: () => void): () => void {
  if (process.platform !== 'linux') return () => undefined;
  const timer = setInterval(() => {
    const all = ids();
    // As long as the whole machine has less, nothing need be looked at.
    if (all.length <= MOST_PROCESSES || countOf(root, all) <= MOST_PROCESSES) return;
    clearInterval(timer);
    crowded();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function ids(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function countOf(root: number, all: readonly string[]): number {
  const below = new Map<number, number[]>();
  const counted = new Set<number>();
  for (const id of all) {
    const [parent, session] = parentAndSession(id);
    const children = below.get(parent);
    if (children === undefined) below.set(parent, [Number(id)]);
    else children.push(Number(id));
    if (session === root) counted.add(Number(id));
  }
  counted.add(root);
  // A set gives what is added while it is walked, too.
  for (const id of counted) for (const child of below.get(id) ?? []) counted.add(child);
  return counted.size;
}

/** Fields 4 and 6 of `stat`; the name before them may hold anything. */
function parentAndSession(id: string): readonly [number, number] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [Number(parent), Number(session)];
  } catch {
    return [0, 0];
  }
}
