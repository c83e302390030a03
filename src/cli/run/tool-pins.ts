import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { canonicalHash } from '../../base/hash.js';
import { isPlainObject, present } from '../../base/json.js';
import type { ToolPins } from '../../index.js';
import { printNote } from '../view/streams.js';
import { printable } from '../view/printable.js';
import { stateFolder } from './project.js';

type OfferedTools = Parameters<ToolPins['compare']>[0]['tools'];

/** What is kept of a server of a file: what it offered when the user last said yes, and what it offers in its place since. */
interface Kept {
  /** Real path of the workflow file. */
  readonly file: string;
  readonly server: string;
  /** Digests by tool. */
  readonly pinned: readonly (readonly [tool: string, pin: string])[];
  readonly offered?: OfferedTools;
}

/** A tool that is not what it was, with what its server says of it now. */
export interface ChangedTool {
  readonly server: string;
  readonly tool: string;
  readonly description: string;
}

/**
 * What the tool servers of a file offered when it was first run, in the user's own folder. That is what counts until the user says yes to something
 * else with `skein trust`. A change of the file does not end it: a server that changes with it is asked about too.
 */
export function toolPinsOf(file: string): ToolPins {
  const real = realOf(file);
  return {
    compare({ name, entry, tools }) {
      const path = join(stateFolder('pins'), canonicalHash([real, name, entry]));
      const kept = readKept(path);
      if (kept === undefined) {
        keepOrSay(path, { file: real, server: name, pinned: pinsOf(tools) });
        return [];
      }
      const pinned = kept === 'damaged' ? [] : kept.pinned;
      const changed = changesOf(pinned, tools);
      const known = kept !== 'damaged' && canonicalHash(kept.offered ?? []) === canonicalHash(changed);
      const offered = changed.length === 0 ? undefined : changed;
      if (!known) keepOrSay(path, { file: real, server: name, pinned, ...present({ offered }) });
      return changed.map((tool) => tool.name);
    },
  };
}

/** Tools of a file's servers to which the user has not said yes. */
export function changedTools(file: string): readonly ChangedTool[] {
  return keptOf(file).flatMap(([, { server, offered = [] }]) =>
    offered.map(({ name, description }) => ({ server, tool: name, description })),
  );
}

/** The user says yes to what the servers of a file offer now. */
export function acceptTools(file: string): void {
  for (const [path, { offered = [], pinned, ...rest }] of keptOf(file)) {
    if (offered.length > 0) keep(path, { ...rest, pinned: [...new Map([...pinned, ...pinsOf(offered)])] });
  }
}

/** Forgets what the servers of a file offered: the next run begins anew. */
export function forgetTools(file: string): void {
  for (const [path] of keptOf(file)) rmSync(path, { force: true });
}

function pinsOf(tools: OfferedTools): Kept['pinned'] {
  return tools.map(({ name, pin }) => [name, pin]);
}

function changesOf(pinned: Kept['pinned'], tools: OfferedTools): OfferedTools {
  const before = new Map(pinned);
  const changed = tools.filter(({ name, pin }) => before.get(name) !== pin);
  return changed.map(({ name, pin, description }) => ({ name, pin, description }));
}

/** Where nothing can be written, the next run is a first one again, which is said. */
function keepOrSay(path: string, kept: Kept): void {
  try {
    keep(path, kept);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    printNote(printable(`warning: what MCP server "${kept.server}" offers can't be remembered: ${why}`));
  }
}

/** As a whole: two runs may do so at once. */
function keep(path: string, kept: Kept): void {
  mkdirSync(stateFolder('pins'), { recursive: true, mode: 0o700 });
  const made = `${path}.${process.pid}`;
  writeFileSync(made, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  renameSync(made, path);
}

function keptOf(file: string): readonly (readonly [path: string, kept: Kept])[] {
  const folder = stateFolder('pins');
  const real = realOf(file);
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const kept = readKept(path);
    return kept === undefined || kept === 'damaged' || kept.file !== real ? [] : [[path, kept] as const];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[\da-f]{64}$/.test(name));
  } catch {
    return [];
  }
}

/** Undefined: nothing is kept. What can't be read says yes to nothing. */
function readKept(path: string): Kept | 'damaged' | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  try {
    const kept: unknown = JSON.parse(text);
    return isPlainObject(kept) && typeof kept.file === 'string' && Array.isArray(kept.pinned)
      ? (kept as unknown as Kept)
      : 'damaged';
  } catch {
    return 'damaged';
  }
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
