import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Holder } from '../journal/store.js';
import { digestText } from '../base/hash.js';
import { systemIds } from '../base/ids.js';

/** The end of a process's id: pid, start time, and the place where its pid is valid. */
const PROCESS_ID = /:(?<pid>\d+):(?<started>\d*):(?<place>[\w-]*)$/;

let own: Holder | undefined;

/** This process, as the holder of a lease: also by start time and pid namespace on Linux, because a pid can be used again. */
export function thisProcess(): Holder {
  const host = hostname();
  own ??= {
    id: `${host}:${process.pid}:${processState(process.pid).started}:${placeOfPids()}`,
    host,
    pid: process.pid,
  };
  return own;
}

/** This process, or one of its turns: several turns of a process can't hold a thread together. */
export function newHolder(): Holder {
  const here = thisProcess();
  return { ...here, id: `${systemIds.next()}@${here.id}` };
}

/** True if a holder's process is known to have ended: it ran on this host, and no longer exists. In doubt, it counts as alive. */
export function isDead(holder: Holder): boolean {
  if (isThisProcess(holder)) return false;
  if (holder.host !== hostname()) return false;
  const { started = '', place } = PROCESS_ID.exec(holder.id)?.groups ?? {};
  if (place !== undefined && place !== placeOfPids()) return false;
  try {
    // Signal 0 is not sent: the call only checks whether it could be.
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const state = processState(holder.pid);
  return state.ended || (started !== '' && state.started !== '' && state.started !== started);
}

/** The calling process is alive: reading this from the system would take half of the time of a short run. */
function isThisProcess({ id, pid }: Holder): boolean {
  return own !== undefined && pid === own.pid && id.endsWith(own.id);
}

/** A process's start in ticks since the start of the machine, and whether it has ended and waits to be reaped by its parent. */
function processState(pid: number): { readonly started: string; readonly ended: boolean } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in brackets, may contain anything; fields count from behind it: state first, then 18 others.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return { started: '', ended: false };
  }
}

/** A mark of this boot of the machine and of the pid namespace. Empty if the system does not provide it. */
function placeOfPids(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return digestText(`${boot} ${readlinkSync('/proc/self/ns/pid')}`);
  } catch {
    return '';
  }
}
