import { isDataFile } from '../../guard/effects.js';
import type { Label } from '../../guard/label.js';
import { takes } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { RunTrust } from '../run-trust.js';
import type { OpenedTool } from '../session.js';
import type { FilesOfCall } from '../tool.js';
import type { FilesShown } from './answer.js';

/** Most files to name of those that make a result untrusted; one would suffice. */
const MOST_NAMED = 8;

export interface CallFiles extends FilesOfCall {
  /** The files in the form that is recorded: files change, so a replay could not look again. */
  shown(): FilesShown;
}

interface Writing {
  readonly run: RunTrust;
  readonly trust: { readonly label: Label };
  /** Receives each file that the call writes under untrusted influence, for its record. */
  readonly spread: Set<string>;
}

/** The files of a call in the form that is recorded; undefined if there are none. */
export function recordedPaths(paths: ReadonlySet<string>): readonly string[] | undefined {
  return paths.size === 0 ? undefined : [...paths];
}

/** Whether a tool is one whose results state which files they are about. */
function worksOnFiles(tool: OpenedTool | undefined): boolean {
  if (tool === undefined || tool.origin !== undefined || tool.code !== undefined) return false;
  const builtIn = builtInOf(tool.name);
  return builtIn !== undefined && takes(builtIn, 'path') && !takes(builtIn, 'command');
}

/**
 * Collects the files of a call; undefined for a tool that does not state them. A file that this run writes, or wrote, under untrusted
 * influence counts like a foreign file.
 */
export function filesOfCall(tool: OpenedTool | undefined, { run, trust, spread }: Writing): CallFiles | undefined {
  if (!worksOnFiles(tool)) return undefined;
  const isUntrusted = (): boolean => trust.label.level === 'untrusted';
  const foreign: string[] = [];
  let written: string | undefined;
  return {
    shown: () => ({
      ...(foreign.length === 0 ? {} : { foreign }),
      ...(written === undefined ? {} : { wrote: written }),
    }),
    shows(path, isForeign) {
      if (foreign.length < MOST_NAMED && (isForeign || run.here.has(path)) && !foreign.includes(path))
        foreign.push(path);
    },
    writes(path) {
      if (!isUntrusted()) return;
      run.here.begin(path);
      spread.add(path);
    },
    wrote(path) {
      written = path;
      // Noted when the write happens: a replay must not note again a file that a person has since vouched for.
      if (isUntrusted()) run.files?.note(path, !isDataFile(path));
    },
  };
}
