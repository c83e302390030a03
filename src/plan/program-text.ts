/** Programs that run a program passed as text, and the options that pass it; one letter may be combined with others, as in `-lc`. */
const TEXT_OPTIONS: readonly (readonly [programs: RegExp, options: RegExp])[] = [
  [/^(?:(?:ba|rba|da|z|k|mk|a|fi|c|tc)?sh|su|script|flock)$/, /^(?:-[a-z]*c|--command)$/i],
  [/^(?:pwsh|powershell)$/, /^[-/](?:c|co[a-z]*|e[a-z]*)$/i],
  [/^cmd$/, /^\/[a-z]*[ck]$/i],
  [/^(?:python[\d.]*|pypy[\d.]*)$/, /^-[a-zA-Z]*c$/],
  [/^(?:node|nodejs|bun|deno|tsx)$/, /^(?:-[a-z]*[ep]+|--eval|--print|eval)$/],
  [/^perl[\d.]*$/, /^-[a-zA-Z\d]*[eE]$/],
  [/^(?:ruby|lua|luajit|Rscript|groovy|scala|elixir|osascript|julia)$/i, /^-[a-z]*e$/],
  [/^php[\d.]*$/, /^-[a-zA-Z]*[rBRE]$/],
];

/** Programs for which all words, or the first that is not an option, are program text. */
const ALL_TEXT = /^(?:eval|ssh)$/;
const FIRST_TEXT = /^(?:[gmn]?awk|sed|jq|watch)$/;

/** A word of a command: its text without references, and whether it has any. */
export interface CommandWord {
  readonly text: string;
  readonly hasReference: boolean;
}

/** `/usr/bin/RM` is `rm`, `cmd.exe` is `cmd`. */
export function programName(word: string): string {
  const name = word.split(/[\\/]/).at(-1) ?? '';
  return name.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '');
}

/**
 * Returns the index of the word in which a reference would become part of a program: the program itself, or the text after `sh -c`, `python
 * -c`, `node -e` and the like, at any position. Undefined if references are only arguments.
 *
 * @example
 * referenceInProgram([{ text: 'sh', hasReference: false }, { text: '-c', hasReference: false }, { text: 'echo ', hasReference: true }]); // 2
 */
export function referenceInProgram(words: readonly CommandWord[]): number | undefined {
  if (words[0]?.hasReference === true) return 0;
  for (const [at, { text, hasReference }] of words.entries()) {
    const found = hasReference ? undefined : textBehind(programName(text), words, at + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function textBehind(program: string, words: readonly CommandWord[], from: number): number | undefined {
  const isText = (at: number): boolean => words[at]?.hasReference === true;
  if (ALL_TEXT.test(program)) return indexFrom(words, from, isText);
  if (FIRST_TEXT.test(program)) {
    const first = indexFrom(
      words,
      from,
      (at) => words[at]?.hasReference === true || words[at]?.text.startsWith('-') === false,
    );
    return first !== undefined && isText(first) ? first : undefined;
  }
  const options = TEXT_OPTIONS.find(([programs]) => programs.test(program))?.[1];
  if (options === undefined) return undefined;
  const joins = /^(?:pwsh|powershell|cmd)$/.test(program);
  for (let at = from; at < words.length; at += 1) {
    const { text, hasReference } = words[at] ?? { text: '', hasReference: false };
    // `--eval={{x}}`, `-c{{x}}`
    if (hasReference && options.test(text.replace(/=$/, ''))) return at;
    if (!hasReference && options.test(text)) {
      const found = joins ? indexFrom(words, at + 1, isText) : isText(at + 1) ? at + 1 : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function indexFrom(words: readonly CommandWord[], from: number, fits: (at: number) => boolean): number | undefined {
  for (let at = from; at < words.length; at += 1) if (fits(at)) return at;
  return undefined;
}

/** Returns whether a command reads its program from standard input: a shell or the like without a file and without a text. */
export function readsProgram(words: readonly CommandWord[]): boolean {
  const [first, ...rest] = words;
  const program = programName(first?.text ?? '');
  const options = TEXT_OPTIONS.find(([programs]) => programs.test(program))?.[1];
  return (
    options !== undefined &&
    rest.every(({ text, hasReference }) => !hasReference && text.startsWith('-') && !options.test(text))
  );
}
