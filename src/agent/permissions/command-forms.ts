import { programName, runsAnother } from '../../plan/program-text.js';
import { textsRunBy } from '../../plan/risky-commands.js';

/** The commands that a call of `shell` runs, in every form that a rule may match. */
export interface CommandForms {
  /** Command lines: words separated by single spaces, the program both with and without its folder. */
  readonly lines: readonly string[];
  /** Whether it contains a script whose actions cannot be derived from its text. */
  readonly opaque: boolean;
}

/** Programs that run a script passed as an argument. */
const SHELLS = new Set('sh bash rbash zsh dash ksh mksh ash fish csh tcsh pwsh powershell cmd'.split(' '));

/** Limits of a script, or of a list of arguments for another program, to analyze. */
const MOST_WORDS = 1_000;
const MOST_CHARACTERS = 16_384;

/**
 * Splits a command into all commands that it runs, so that a rule for a program also applies if another program runs it: `env rm x`,
 * `find . -exec rm {} ;`, `sh -c "cd a && rm x"`, `git -C a push`, `sed '1e rm x'`. Finds only what the words contain, not what a program does on its own.
 */
export function commandForms(words: readonly string[]): CommandForms {
  const lines = new Set<string>();
  const [first = '', ...rest] = words;
  const head = programName(first);
  const inner = runsAnother(head, rest) ? flat(rest) : [];
  addLines(words, lines);
  if (inner === undefined) return { lines: [...lines], opaque: true };
  let opaque = namesAlias(words);
  for (const script of scriptsOf(head, rest)) if (readScript(script, lines)) opaque = true;
  // Most of what else these texts hold is no command, so that nothing follows from what can't be read of them.
  for (const text of textsRunBy(words)) readScript(text, lines);
  inner.forEach((word, i) => {
    const tail = inner.slice(i);
    addLines(tail, lines);
    // The words of a script are not distinguishable from other words here, so all of them are read as one text.
    if (SHELLS.has(programName(word)) && readScript(tail.slice(1).join(' '), lines)) opaque = true;
  });
  return { lines: [...lines], opaque };
}

function addLines(words: readonly string[], lines: Set<string>): void {
  const [first, ...rest] = words;
  if (first === undefined) return;
  lines.add(oneSpaced(words.join(' ')));
  const program = programName(first);
  lines.add(oneSpaced([program, ...rest].join(' ')));
  if (program === 'git') lines.add(oneSpaced(withoutGitOptions(rest).join(' ')));
}

function oneSpaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** A command that `env` splits can follow its option directly. */
const SPLIT_OPTION = /(?<=^|\s)(?:-\w*S|--split-string=)(?=\S)/g;

/** Splits the words again, for programs that do so; undefined if there are too many. */
function flat(words: readonly string[]): readonly string[] | undefined {
  const text = words.join(' ').replaceAll(SPLIT_OPTION, '');
  if (text.length > MOST_CHARACTERS) return undefined;
  const parts = oneSpaced(text).split(' ');
  return parts.length > MOST_WORDS ? undefined : parts;
}

function scriptsOf(head: string, rest: readonly string[]): readonly string[] {
  if (!SHELLS.has(head)) return [];
  const option = rest.findIndex((word) => /^(?:[-/][a-z]*c|-{1,2}(?:command|encodedcommand))$/i.test(word));
  return option < 0 ? [] : rest.slice(option + 1);
}

/** Variables, patterns and the like in a script: what it runs is known only at run time. */
const DYNAMIC = /[$`]|\{[^{}]*,/;

/** Adds every command that may start somewhere in a script; returns true if its text does not determine them. */
function readScript(script: string, lines: Set<string>): boolean {
  const text = script.replaceAll(/\\\r?\n/g, '').replaceAll(/['"\\]/g, '');
  const segments = text.split(/[;|&()<>{}\r\n]+/).map((segment) => oneSpaced(segment).split(' '));
  const count = segments.reduce((sum, words) => sum + words.length, 0);
  if (text.length > MOST_CHARACTERS || count > MOST_WORDS) return true;
  for (const words of segments) words.forEach((_, i) => addLines(words.slice(i), lines));
  const isUnknown = ([first = '', ...rest]: readonly string[]): boolean =>
    /[*?[~]/.test(first) || first === 'alias' || feeds(first, rest);
  return DYNAMIC.test(text) || segments.some((words) => isUnknown(words) || namesAlias(words));
}

/** Whether a shell without a script reads one from its input. */
function feeds(first: string, rest: readonly string[]): boolean {
  return SHELLS.has(programName(first)) && rest.every((word) => word.startsWith('-'));
}

const GIT_OPTIONS_WITH_VALUE = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --attr-source --exec-path --super-prefix'.split(' '),
);

/** Whether git is given an alias, which makes a command of any name any other command. */
function namesAlias(words: readonly string[]): boolean {
  return words.some((word) => /alias\./i.test(word)) && words.some((word) => programName(word) === 'git');
}

/** Returns the arguments `-C folder push` of git as `git push`. */
function withoutGitOptions(rest: readonly string[]): readonly string[] {
  let at = 0;
  while (rest[at]?.startsWith('-') === true) at += GIT_OPTIONS_WITH_VALUE.has(rest[at] ?? '') ? 2 : 1;
  return ['git', ...rest.slice(at)];
}
