import { relative, resolve } from 'node:path';
import { present } from '../../base/json.js';
import type { Workflow } from '../../plan/workflow.js';
import { shellWord } from '../runs/text.js';
import { isTyped } from '../view/streams.js';
import type { GivenInput } from './given-inputs.js';
import { openedPolicies, realOf } from './project.js';
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

/** How inputs are given on a command line. */
interface Giving {
  readonly cwd: string;
  readonly flag: string;
}

/** The flags that say which inputs are untrusted or private, what the policy says of the project, and whether that is told. */
type MarkingFlags = Pick<CommonFlags, 'untrusted' | 'private' | 'policy' | 'quiet'>;

/** The flags of a run, and what the user is told of its inputs when it starts: before, an error may make that moot. */
interface Marked<F> {
  readonly flags: F;
  readonly told: readonly string[];
}

/**
 * Returns the flags of a run with the inputs marked as untrusted that others have written: those from standard input, and from files that
 * are foreign to the project or that an agent wrote after it had heard something untrusted. `told` says why, once the run starts. Files are
 * private, as where an agent reads them, unless the policy makes the project public.
 *
 * @param cwd the working directory of the run: the project
 * @param given where the names of files start, and the flag with which a text is given
 */
export async function withInputsOfOthers<F extends MarkingFlags>(
  flags: F,
  given: readonly GivenInput[],
  cwd: string,
  how: Giving = { cwd, flag: '--input' },
): Promise<Marked<F>> {
  const last = new Map(given.map((input) => [input.name, input]));
  const found: string[] = [];
  const hidden: string[] = [];
  const told: string[] = [];
  for (const { name, value, isFile } of last.values()) {
    if (!isFile) continue;
    const why = await whyOfOthers({ name, file: value, cwd }, how);
    if (value !== '-' && (why !== undefined || !(await isPublic(flags.policy, cwd)))) hidden.push(name);
    if (why === undefined) continue;
    found.push(name);
    if (flags.quiet !== true) told.push(`input '${name}' is untrusted: ${why}`);
  }
  const marked = { untrusted: withNames(flags.untrusted, found), private: withNames(flags.private, hidden) };
  return { flags: { ...flags, ...present(marked) }, told };
}

function withNames(named: readonly string[] = [], more: readonly string[]): readonly string[] | undefined {
  return more.length === 0 ? undefined : [...new Set([...named, ...more])];
}

/** Whether the user's policy says that everybody may know what is in the files of the project. */
async function isPublic(policy: string | undefined, cwd: string): Promise<boolean> {
  const policies = await openedPolicies(policy, cwd);
  return policies.some(({ widens, project }) => widens === true && project === 'public');
}

/** The name of what is said to a pack. */
const SAID = 'message';

/** What is said to a pack, as an input of each turn; `-` is standard input, as is what nobody types if no text is given. */
export function saidOf(texts: readonly string[] | undefined): readonly GivenInput[] {
  const isPiped = texts === undefined ? !isTyped() : texts.includes('-');
  return isPiped ? [{ name: SAID, value: '-', isFile: true }] : [];
}

async function whyOfOthers(
  { name, file, cwd }: { readonly name: string; readonly file: string; readonly cwd: string },
  how: Giving,
): Promise<string | undefined> {
  const isOwnFlag = how.flag === `--${name}`;
  const flag = name === SAID ? '--message TEXT' : isOwnFlag ? `${how.flag} TEXT` : `${how.flag} ${name}=TEXT`;
  const own = `${flag} says that it is yours`;
  if (file === '-') return `others may have written what comes from standard input; ${own}`;
  const path = resolve(how.cwd, file);
  if (writtenFilesIn(cwd).has(path))
    return `an agent wrote ${file} after it had heard something untrusted; skein trust --file ${shellWord(file)} vouches for it`;
  const { isForeignTo } = await import('../../agent/index.js');
  if (!(await isForeignTo(cwd, realOf(path)))) return undefined;
  return `${file} is not a file of this project's own (a dependency, ignored by Git, or outside of it); ${own}`;
}
