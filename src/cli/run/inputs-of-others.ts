import { relative, resolve } from 'node:path';
import type { Workflow } from '../../plan/workflow.js';
import { shellWord } from '../runs/text.js';
import { printable } from '../view/printable.js';
import { printNote } from '../view/streams.js';
import type { GivenInput } from './given-inputs.js';
import type { CommonFlags } from './run-flags.js';
import { writtenFilesIn } from './written-files.js';

/** Returns what a user is told of a workflow that is made of files which an agent wrote after it had heard something untrusted. */
export function madeByOthers({ files }: Workflow, cwd: string): readonly string[] {
  const written = writtenFilesIn(cwd);
  return files
    .filter(({ path }) => written.has(path))
    .map(({ path }) => {
      const name = relative(cwd, path);
      return `all that this run does is untrusted: an agent wrote ${name} after it had heard something untrusted; skein trust --file ${shellWord(name)} vouches for it`;
    });
}

/** The flags that say which inputs are untrusted, and whether that is told. */
type MarkingFlags = Pick<CommonFlags, 'untrusted' | 'quiet'>;

/**
 * Returns the flags of a run with the inputs marked as untrusted that come from files which an agent wrote after it had heard something
 * untrusted. Tells about each.
 */
export function withInputsOfOthers<F extends MarkingFlags>(flags: F, given: readonly GivenInput[], cwd: string): F {
  const written = writtenFilesIn(cwd);
  const last = new Map(given.map((input) => [input.name, input]));
  const found = [...last.values()].filter(
    ({ isFile, value }) => isFile && value !== '-' && written.has(resolve(cwd, value)),
  );
  if (found.length === 0) return flags;
  for (const { name, value } of flags.quiet === true ? [] : found) {
    const why = `an agent wrote ${value} after it had heard something untrusted`;
    printNote(printable(`input '${name}' is untrusted: ${why}; skein trust --file ${shellWord(value)} vouches for it`));
  }
  return { ...flags, untrusted: [...new Set([...(flags.untrusted ?? []), ...found.map(({ name }) => name)])] };
}
