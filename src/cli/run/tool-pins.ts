import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalHash } from '../../base/hash.js';
import { isPlainObject, present } from '../../base/json.js';
import type { ToolPins } from '../../index.js';
import { printNote } from '../view/streams.js';
import { printable } from '../view/printable.js';
import { existing, keep, namesIn, stateFolder } from './project.js';
import { messageOf } from '../../base/thrown.js';

/** The names of stored files are digests. */
const DIGEST = /^[\da-f]{64}$/;

type OfferedTools = Parameters<ToolPins['compare']>[0]['tools'];

/** The stored facts about a server of a file: the tools the user last agreed to, and the changed tools it has offered since. */
interface Kept {
  /** Real path of the workflow file. */
  readonly file: string;
  readonly server: string;
  readonly pinned: readonly (readonly [tool: string, pin: string])[];
  readonly offered?: OfferedTools;
}

/** A changed tool, with its current description from the server. */
export interface ChangedTool {
  readonly server: string;
  readonly tool: string;
  readonly description: string;
}

/** Stores in the user's own folder what the tool servers of a file offered at first. `skein trust` agrees to a change. */
export function toolPinsOf(file: string): ToolPins {
  const real = existing(file);
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

/** Tools of a file's servers that the user has not agreed to. */
export function changedTools(file: string): readonly ChangedTool[] {
  return keptOf(file).flatMap(([, { server, offered = [] }]) =>
    offered.map(({ name, description }) => ({ server, tool: name, description })),
  );
}

/** Notes that the user agrees to what the servers of a file offer now. */
export function acceptTools(file: string): void {
  for (const [path, { offered = [], pinned, ...rest }] of keptOf(file)) {
    if (offered.length > 0)
      keep(path, JSON.stringify({ ...rest, pinned: [...new Map([...pinned, ...pinsOf(offered)])] }));
  }
}

/** Forgets what the servers of a file offered: the next run counts as the first. */
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

/** If nothing can be written, the next run counts as the first again, and a message tells so. */
function keepOrSay(path: string, kept: Kept): void {
  try {
    keep(path, JSON.stringify(kept));
  } catch (error) {
    const why = messageOf(error);
    printNote(printable(`warning: what MCP server "${kept.server}" offers can't be remembered: ${why}`));
  }
}

function keptOf(file: string): readonly (readonly [path: string, kept: Kept])[] {
  const folder = stateFolder('pins');
  const real = existing(file);
  return namesIn(folder).flatMap((name) => {
    if (!DIGEST.test(name)) return [];
    const path = join(folder, name);
    const kept = readKept(path);
    return kept === undefined || kept === 'damaged' || kept.file !== real ? [] : [[path, kept] as const];
  });
}

/** Undefined if nothing is stored. A damaged file agrees to nothing. */
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
