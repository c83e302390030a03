import { isDataFile } from '../../guard/effects.js';
import { takes } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { RunTrust } from '../run-trust.js';
import type { OpenedTool } from '../session.js';
import type { FilesOfCall } from '../tool.js';
import type { FilesShown } from './answer.js';

/** Files that are named, of those that make a result untrusted: one would do. */
const MOST_NAMED = 8;

/** What was heard of the files of a call. */
interface Heard extends FilesOfCall {
  /** As it is recorded: files change, so a replay could not look again. */
  shown(): FilesShown;
}

/** Whether a tool is one of those whose results say which files they are about. */
export function worksOnFiles(tool: OpenedTool | undefined): boolean {
  if (tool === undefined || tool.origin !== undefined || tool.code !== undefined) return false;
  const builtIn = builtInOf(tool.name);
  return builtIn !== undefined && takes(builtIn, 'path') && !takes(builtIn, 'command');
}

/** Hears the files of a call. Those that the run itself wrote when others had a say are not better than what others wrote. */
export function filesOfCall(run: RunTrust, isUntrusted: () => boolean): Heard {
  const foreign: string[] = [];
  let written: string | undefined;
  return {
    shown: () => ({
      ...(foreign.length === 0 ? {} : { foreign }),
      ...(written === undefined ? {} : { wrote: written }),
    }),
    shows(path, isForeign) {
      if (foreign.length < MOST_NAMED && (isForeign || run.written.has(path)) && !foreign.includes(path))
        foreign.push(path);
    },
    wrote(path) {
      written = path;
      // Here, where it really happens: a replay notes nothing that a person has vouched for since.
      if (isUntrusted()) run.files?.note(path, !isDataFile(path));
    },
  };
}
