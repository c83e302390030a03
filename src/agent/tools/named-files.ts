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
 *
 * @example
 * namedFiles(['sh', '-c', 'rm -r .skein']).words.includes('.skein'); // true
 */
export function namedFiles(argv: readonly string[]): NamedFiles {
  const [program = ''] = argv;
  const scripts = argv.some((word) => INTERPRETERS.test(nameOf(word)));
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

function nameOf(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
}
