import { programName } from '../../plan/program-text.js';
import { refused } from './tool-input.js';

/** Characters with a meaning to a shell outside quotes. */
const OPERATORS = new Set(['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', '\n', '\r']);
const HINT =
  'there is no shell: run one program for each call and give its arguments in "argv"; quote characters that are meant literally';

/**
 * Splits a command line into words as a POSIX shell does, with quotes and backslashes, and without any expansion. Refuses syntax that a
 * shell would act on (pipes, redirections, variables, patterns, several commands) instead of passing it on as text, because the writer of
 * the command intended its effect.
 *
 * @throws SkeinError `SKEIN_TOOL_REFUSED`
 */
export function splitWords(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let i = 0;
  const take = (text: string): void => {
    word = (word ?? '') + text;
  };
  while (i < command.length) {
    const char = command[i] ?? '';
    if (char === ' ' || char === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
      i += 1;
    } else if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(command, i) : doubleQuoted(command, i);
      take(quoted.text);
      i = quoted.end;
    } else if (char === '\\') {
      const next = command[i + 1];
      if (next === undefined || next === '\n') throw refused('the command ends with a backslash', HINT);
      take(next);
      i += 2;
    } else {
      checkPlain(char, word);
      take(char);
      i += 1;
    }
  }
  if (word !== undefined) words.push(word);
  checkFirst(words[0]);
  return words;
}

function checkPlain(char: string, word: string | undefined): void {
  if (OPERATORS.has(char))
    throw refused(`the command contains ${JSON.stringify(char)}, which only a shell understands`, HINT);
  if (word === undefined && (char === '~' || char === '#')) {
    throw refused(`a word of the command begins with ${JSON.stringify(char)}, which only a shell understands`, HINT);
  }
}

function checkFirst(first: string | undefined): void {
  if (first === undefined) throw refused('the command is empty', HINT);
  if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(first)) {
    throw refused('the command sets a variable, which only a shell understands', HINT);
  }
}

function singleQuoted(command: string, at: number): { text: string; end: number } {
  const end = command.indexOf("'", at + 1);
  if (end < 0) throw refused('a quotation in the command is not closed', HINT);
  return { text: command.slice(at + 1, end), end: end + 1 };
}

function doubleQuoted(command: string, at: number): { text: string; end: number } {
  let text = '';
  for (let i = at + 1; i < command.length; i++) {
    const char = command[i] ?? '';
    if (char === '"') return { text, end: i + 1 };
    if (char === '$' || char === '`') {
      throw refused(`the command contains ${JSON.stringify(char)}, which a shell expands inside double quotes`, HINT);
    }
    const next = command[i + 1] ?? '';
    if (char === '\\' && ['"', '\\', '$', '`'].includes(next)) {
      text += next;
      i += 1;
    } else {
      text += char;
    }
  }
  throw refused('a quotation in the command is not closed', HINT);
}

/** Programs that only print their arguments or files, whatever their options. */
const READERS = new Set('cat head tail wc ls stat diff cmp grep md5sum sha1sum sha256sum'.split(' '));

/** Programs that accept a script or another program as an argument. */
const INTERPRETERS =
  /^(?:\w*sh|env|sudo|doas|xargs|find|awk|gawk|mawk|sed|perl|ruby|php|node|nodejs|deno|bun|python[\d.]*|pwsh|powershell|cmd|nohup|nice|timeout|time|exec|eval|busybox)$/;

export interface NamedFiles {
  /** Texts that the program may interpret as paths. */
  readonly words: readonly string[];
  readonly reads: boolean;
}

/** Most words to examine of a command and its scripts. */
const MOST_WORDS = 2_000;

/** Returns the texts by which a command may name files, also in its scripts. Names that a program composes itself are not seen. */
export function namedFiles(argv: readonly string[]): NamedFiles {
  const [program = ''] = argv;
  const scripts = argv.some((word) => INTERPRETERS.test(programName(word)));
  const words = new Set<string>();
  for (const word of argv) {
    add(word, words);
    if (!scripts) continue;
    // A shell joins what stands in quotes with what is around it.
    for (const script of [word, word.replaceAll(/['"\\]/g, '')])
      for (const piece of script.split(/[\s;|&()<>{}[\]'"`,$]+/)) add(piece, words);
  }
  return { words: [...words], reads: READERS.has(program) };
}

/** Most parts of a word to examine together with what follows them. */
const MOST_PARTS = 20;

function add(word: string, words: Set<string>): void {
  if (word === '') return;
  // `-Cfolder`, `--file=name`, `@file`, `name=@file;type=text`, `file:/place`
  for (const text of new Set([word, word.replace(/^-[A-Za-z]/, '')])) {
    const parts = [...text.matchAll(/[^=:@<,;]+/g)];
    addOne(text, words);
    for (const { 0: part, index } of parts) {
      addOne(part, words);
      if (parts.length <= MOST_PARTS) addOne(text.slice(index), words);
    }
  }
}

function addOne(text: string, words: Set<string>): void {
  if (text !== '' && words.size < MOST_WORDS) words.add(text);
}
