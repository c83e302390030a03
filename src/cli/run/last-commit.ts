import { execFile } from 'node:child_process';

/** A change of a repository. */
export interface Commit {
  /** Short hash and subject. */
  readonly title: string;
  readonly diff: string;
}

/** Maximum characters of a diff, cut at the end of a line: it goes into prompts. */
const LONGEST_DIFF = 100_000;
/** Above this many bytes git is stopped, and the change counts as unreadable. */
const LARGEST_OUTPUT = 32 * 1024 * 1024;

/**
 * Returns the last commit of the repository that contains `cwd`, as a diff against its parent. Undefined without git, a repository, a
 * commit, or a parent (a first commit or the end of a shallow clone), and for an empty or unreadable change.
 */
export async function lastCommit(cwd: string): Promise<Commit | undefined> {
  const parent = await gitOutput(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^1']);
  if (parent === undefined) return undefined;
  const title = await gitOutput(cwd, ['show', '--no-patch', '--no-show-signature', '--format=%h %s', 'HEAD']);
  // Runs no program that the configuration of the repository names.
  const options = ['--no-color', '--no-ext-diff', '--no-textconv', '--submodule=short'];
  const diff = await gitOutput(cwd, ['diff', ...options, parent.trim(), 'HEAD', '--']);
  if (title === undefined || diff === undefined || diff.trim() === '') return undefined;
  return { title: title.trim(), diff: cut(diff) };
}

function cut(diff: string): string {
  if (diff.length <= LONGEST_DIFF) return diff;
  const end = diff.lastIndexOf('\n', LONGEST_DIFF);
  return `${diff.slice(0, end === -1 ? LONGEST_DIFF : end)}\n(the rest of the diff is left out)\n`;
}

/** Returns the output of git. Undefined if git fails or is missing. */
export function gitOutput(cwd: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };
    const options = { cwd, env, timeout: 20_000, maxBuffer: LARGEST_OUTPUT };
    execFile('git', ['--no-pager', ...args], options, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}
