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

/** Whether a tool is one whose results state which files they are about. */
function worksOnFiles(tool: OpenedTool | undefined): boolean {
  if (tool === undefined || tool.origin !== undefined || tool.code !== undefined) return false;
  const builtIn = builtInOf(tool.name);
  return builtIn !== undefined && takes(builtIn, 'path') && !takes(builtIn, 'command');
}

/**
 * Collects the files of a call; undefined for a tool that does not state them. A file that this run writes, or wrote, under untrusted
 * influence counts like a foreign file. `label`: of what influenced the call, as it was when its turn made it.
 */
export function filesOfCall(
  tool: OpenedTool | undefined,
  { run, label }: { readonly run: RunTrust; readonly label: Label },
): CallFiles | undefined {
  if (!worksOnFiles(tool)) return undefined;
  const isUntrusted = label.level === 'untrusted';
  const foreign: string[] = [];
  let written: string | undefined;
  return {
    shown: () => ({
      ...(foreign.length === 0 ? {} : { foreign }),
      ...(written === undefined ? {} : { wrote: written }),
      ...(written !== undefined && isUntrusted ? { spreads: true } : {}),
    }),
    shows(path, isForeign) {
      if (foreign.length < MOST_NAMED && (isForeign || run.here.has(path)) && !foreign.includes(path))
        foreign.push(path);
    },
    writes(path, text) {
      if (!isUntrusted) return;
      run.here.begin(path);
      // Noted when the write happens: a replay must not note again a file that a person has since vouched for.
      run.files?.note(path, !isDataFile(path), text);
    },
    wrote(path) {
      written = path;
    },
  };
}
