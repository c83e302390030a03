import { programName } from '../../plan/program-text.js';

/** What a call of `shell` runs, in the ways in which a rule may speak of it. */
export interface CommandForms {
  /** Command lines: words with single spaces, the program also without its folder. */
  readonly lines: readonly string[];
  /** A script is part of it that does something which can't be read off its text. */
  readonly opaque: boolean;
}

/** Programs that run a script that is given to them as an argument. */
const SHELLS = new Set('sh bash rbash zsh dash ksh mksh ash fish csh tcsh pwsh powershell cmd'.split(' '));

/** Programs that run the program that is given to them as arguments. */
const WRAPPERS = new Set(
  (
    'env sudo doas su runuser nohup nice ionice time timeout stdbuf setsid xargs parallel exec command builtin busybox toybox chroot unshare ' +
    'nsenter flock watch strace ltrace script unbuffer chrt taskset caffeinate npx bunx uvx'
  ).split(' '),
);

/** A longer script, or list of arguments for another program, is not taken apart. */
const MOST_WORDS = 1_000;
const MOST_CHARACTERS = 16_384;

/**
 * Takes a command apart, so that a rule for a program also holds where another one runs it: `env rm x`, `find . -exec rm {} ;`,
 * `sh -c "cd a && rm x"`, `git -C a push`. This finds what is written there, not what a program does by itself.
 */
export function commandForms(words: readonly string[]): CommandForms {
  const lines = new Set<string>();
  const [first = '', ...rest] = words;
  const head = programName(first);
  const inner = runsAnother(head, rest) ? flat(rest) : [];
  addLines(words, lines);
  addLines(withoutGitOptions(head, rest), lines);
  if (inner === undefined) return { lines: [...lines], opaque: true };
  let opaque = false;
  for (const script of scriptsOf(head, rest)) if (readScript(script, lines)) opaque = true;
  inner.forEach((word, i) => {
    const tail = inner.slice(i);
    addLines(tail, lines);
    // The words of a script can't be told from other words here: all of them are looked at, as one text.
    if (SHELLS.has(programName(word)) && readScript(tail.slice(1).join(' '), lines)) opaque = true;
  });
  return { lines: [...lines], opaque };
}

function addLines(words: readonly string[], lines: Set<string>): void {
  const [first, ...rest] = words;
  if (first === undefined) return;
  lines.add(oneSpaced(words.join(' ')));
  lines.add(oneSpaced([programName(first), ...rest].join(' ')));
}

function oneSpaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function runsAnother(head: string, rest: readonly string[]): boolean {
  return (
    WRAPPERS.has(head) || (/^(?:g?find|fd|fdfind)$/.test(head) && rest.some((word) => /^--?(?:exec|ok|x)/i.test(word)))
  );
}

/** Words of words, for programs that split their arguments once more; undefined when they are too many. */
function flat(words: readonly string[]): readonly string[] | undefined {
  const text = words.join(' ');
  if (text.length > MOST_CHARACTERS) return undefined;
  const parts = oneSpaced(text).split(' ');
  return parts.length > MOST_WORDS ? undefined : parts;
}

function scriptsOf(head: string, rest: readonly string[]): readonly string[] {
  if (!SHELLS.has(head)) return [];
  const option = rest.findIndex((word) => /^(?:[-/][a-z]*c|-{1,2}(?:command|encodedcommand))$/i.test(word));
  return option < 0 ? [] : rest.slice(option + 1);
}

/** Variables, patterns and the like in a script: what it runs is known only when it runs. */
const DYNAMIC = /[$`]|\{[^{}]*,/;

/** Adds every command that may begin somewhere in a script; true when it can't be read off the text. */
function readScript(script: string, lines: Set<string>): boolean {
  const text = script.replaceAll(/\\\r?\n/g, '').replaceAll(/['"\\]/g, '');
  const segments = text.split(/[;|&()<>{}\r\n]+/).map((segment) => oneSpaced(segment).split(' '));
  const count = segments.reduce((sum, words) => sum + words.length, 0);
  if (text.length > MOST_CHARACTERS || count > MOST_WORDS) return true;
  for (const words of segments) words.forEach((_, i) => addLines(words.slice(i), lines));
  return DYNAMIC.test(text) || segments.some(([first = '', ...rest]) => /[*?[~]/.test(first) || feeds(first, rest));
}

/** A shell without a script reads one from its input. */
function feeds(first: string, rest: readonly string[]): boolean {
  return SHELLS.has(programName(first)) && rest.every((word) => word.startsWith('-'));
}

const GIT_OPTIONS_WITH_VALUE = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);

/** `git -C folder push` as `git push`. */
function withoutGitOptions(head: string, rest: readonly string[]): readonly string[] {
  if (head !== 'git') return [];
  let at = 0;
  while (rest[at]?.startsWith('-') === true) at += GIT_OPTIONS_WITH_VALUE.has(rest[at] ?? '') ? 2 : 1;
  return ['git', ...rest.slice(at)];
}
