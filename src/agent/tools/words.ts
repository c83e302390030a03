import { programName } from '../../plan/program-text.js';
import { refused } from './tool-input.js';

/** Characters that mean something to a shell wherever they stand outside of quotes. */
const OPERATORS = new Set(['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', '\n', '\r']);
const HINT =
  'there is no shell: run one program for each call and give its arguments in "argv"; quote characters that are meant literally';

/**
 * Splits a command line into words as a POSIX shell does, with quotes and backslashes, and without any expansion. What a shell
 * would act on (pipes, redirections, variables, patterns, several commands) is refused rather than passed on as text, because
 * the writer of the command meant something else by it.
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

/** Programs that print what they are given and can do nothing else, whatever their options. */
const READERS = new Set('cat head tail wc ls stat diff cmp grep md5sum sha1sum sha256sum'.split(' '));

/** Programs that may be given a script as an argument, or another program. */
const INTERPRETERS =
  /^(?:\w*sh|env|sudo|doas|xargs|find|awk|gawk|mawk|sed|perl|ruby|php|node|nodejs|deno|bun|python[\d.]*|pwsh|powershell|cmd|nohup|nice|timeout|time|exec|eval|busybox)$/;

/** What a command says about files. */
export interface NamedFiles {
  /** Texts that the program may take for paths. */
  readonly words: readonly string[];
  /** The program can only read them. */
  readonly reads: boolean;
}

/** Words of one command, and of the scripts in it, that are looked at. */
const MOST_WORDS = 2_000;

/**
 * What a command may name files by: its words, values of options in them, and of a script each piece that looks like a word. Names that a
 * program puts together by itself are not seen.
 * `namedFiles(['sh', '-c', 'rm -r .skein']).words.includes('.skein')` gives `true`.
 */
export function namedFiles(argv: readonly string[]): NamedFiles {
  const [program = ''] = argv;
  const scripts = argv.some((word) => INTERPRETERS.test(programName(word)));
  const words = new Set<string>();
  for (const word of argv) {
    add(word, words);
    if (scripts) for (const piece of word.split(/[\s;|&()<>{}[\]'"`,$]+/)) add(piece, words);
  }
  return { words: [...words], reads: READERS.has(program) };
}

function add(word: string, words: Set<string>): void {
  if (word === '' || words.size >= MOST_WORDS) return;
  words.add(word);
  const value = word.indexOf('=') + 1;
  if (value > 0) words.add(word.slice(value));
  // `-Cfolder`, `@file`, `--file:name`
  const [, short] = /^(?:-[A-Za-z]|@)(.+)$/.exec(word) ?? [];
  if (short !== undefined) words.add(short);
  const colon = word.lastIndexOf(':') + 1;
  if (colon > 0) words.add(word.slice(colon));
}
