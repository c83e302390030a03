import { readdirSync, readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { addTo } from '../../base/collections.js';

/** Most simultaneous processes of one program, including all that it started. */
const MOST_PROCESSES = 1_000;
const LOOK_MS = 250;
const KB = 1_024;

/** Memory limit of one program with all that it started: the rest keeps the machine, or the container, working. */
function mostMemory(): number {
  const container = process.constrainedMemory();
  const all = totalmem();
  return Math.floor((container > 0 && container < all ? container : all) * 0.75);
}

/**
 * Calls `exceeded` once, with the limit that was passed, if a program has too many processes or too much memory. Counts, where the system
 * shows them (Linux), the processes below it and those of its session. The system's own limits would count the user's other programs, apply
 * to each process alone, and in part not apply to root.
 *
 * @param memory bytes for all processes together; defaults to three quarters of the machine, or of the container
 * @returns a function that stops the counting
 */
export function watchProgram(root: number, exceeded: (what: string) => void, memory?: number): () => void {
  if (process.platform !== 'linux') return () => undefined;
  const timer = setInterval(() => {
    // Most programs end before the first check: an earlier one would cost each of them.
    const what = excessOf(root, memory ?? mostMemory());
    if (what === undefined) return;
    clearInterval(timer);
    exceeded(what);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function excessOf(root: number, memory: number): string | undefined {
  const all = ids();
  // While the whole machine is below the limits, no process needs checking.
  const mayCrowd = all.length > MOST_PROCESSES;
  const mayFill = totalmem() - freemem() > memory;
  if (!mayCrowd && !mayFill) return undefined;
  const own = ownProcesses(root, all);
  if (own.length > MOST_PROCESSES) return `more than ${MOST_PROCESSES.toLocaleString('en')} processes at once`;
  if (!mayFill || !isAbove(memory, own)) return undefined;
  return `more than ${Math.floor(memory / KB / KB).toLocaleString('en')} MiB of memory`;
}

function ids(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function ownProcesses(root: number, all: readonly string[]): readonly number[] {
  const below = new Map<number, number[]>();
  const counted = new Set<number>();
  for (const id of all) {
    const [parent, session] = parentAndSession(id);
    addTo(below, parent, Number(id));
    if (session === root) counted.add(Number(id));
  }
  counted.add(root);
  // Iteration over a set includes what is added meanwhile.
  for (const id of counted) for (const child of below.get(id) ?? []) counted.add(child);
  return [...counted];
}

/** Returns fields 4 and 6 of `stat`; the name before them may contain any character. */
function parentAndSession(id: string): readonly [number, number] {
  const stat = textOf(`/proc/${id}/stat`);
  const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(parent ?? 0), Number(session ?? 0)];
}

/** The resident size is cheap to read but counts shared memory repeatedly; only if that is too much, the proportional share is read. */
function isAbove(memory: number, processes: readonly number[]): boolean {
  const sum = (read: (id: number) => number): number => processes.reduce((total, id) => total + read(id), 0);
  return sum((id) => sizeIn(`/proc/${id}/status`, 'VmRSS', 'VmSwap')) > memory && sum(shareOf) > memory;
}

function shareOf(id: number): number {
  return sizeIn(`/proc/${id}/smaps_rollup`, 'Pss', 'SwapPss');
}

/** Sum of lines such as `VmRSS:   1234 kB`, in bytes. */
function sizeIn(path: string, ...names: readonly string[]): number {
  return textOf(path)
    .split('\n')
    .reduce((total, line) => {
      const [name = '', size = ''] = line.split(/:\s+/);
      return names.includes(name) ? total + Number.parseInt(size, 10) * KB : total;
    }, 0);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}
