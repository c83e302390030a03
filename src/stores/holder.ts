import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Holder } from '../journal/store.js';
import { digestText } from '../base/hash.js';
import { systemIds } from '../base/ids.js';

/** What the end of a process's id looks like: pid, when it started, and where its pid means something. */
const PROCESS_ID = /:(?<pid>\d+):(?<started>\d*):(?<place>[\w-]*)$/;

let own: Holder | undefined;

/**
 * This process, as the holder of a lease. On Linux its id also says when the process started and in which set of pids it lives, so that
 * neither a pid that was given out again nor the same pid in another container is taken for it.
 */
export function thisProcess(): Holder {
  const host = hostname();
  own ??= {
    id: `${host}:${process.pid}:${processState(process.pid).started}:${placeOfPids()}`,
    host,
    pid: process.pid,
  };
  return own;
}

/** This process, or one of its turns: several turns of a process don't have a thread together. */
export function newHolder(): Holder {
  const here = thisProcess();
  return { ...here, id: `${systemIds.next()}@${here.id}` };
}

/** True when a holder's process is known to have ended: it ran here, and is no more. When in doubt, it lives. */
export function isDead(holder: Holder): boolean {
  if (isThisProcess(holder)) return false;
  if (holder.host !== hostname()) return false;
  const { started = '', place } = PROCESS_ID.exec(holder.id)?.groups ?? {};
  if (place !== undefined && place !== placeOfPids()) return false;
  try {
    // Signal 0 is not sent; it only asks whether it could be.
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const state = processState(holder.pid);
  return state.ended || (started !== '' && state.started !== '' && state.started !== started);
}

/** Whoever asks lives: nothing need be read from the system, which would be half of the time of a short run. */
function isThisProcess({ id, pid }: Holder): boolean {
  return own !== undefined && pid === own.pid && id.endsWith(own.id);
}

/** When a process started, in ticks since the machine did, and whether it only waits for its parent to notice its end. */
function processState(pid: number): { readonly started: string; readonly ended: boolean } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in brackets, may hold anything; fields count from behind it: state first, then 18 others.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return { started: '', ended: false };
  }
}

/** A mark of this boot of the machine and of the namespace of pids. Empty where the system does not say. */
function placeOfPids(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return digestText(`${boot} ${readlinkSync('/proc/self/ns/pid')}`);
  } catch {
    return '';
  }
}
