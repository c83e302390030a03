/** A pattern up to the delimiter, as sed reads it; the delimiter itself is group 1 of the command, or the slash of an address. */
const bodyOf = (delimiter: string): string =>
  String.raw`(?:\\[^\n]|\[\^?(?:\[:[a-z]+:\]|(?!${delimiter})[^\[\]^\\\n])+\]|(?!${delimiter})[^\\\n[])*`;

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|[+~]\d+|/${bodyOf('/')}/[IM]*)`;
const REPLACEMENT = String.raw`(?:\\[^\n]|(?!\1)[^\\\n])*\1`;
const COMMAND = String.raw`(?:[pdDgGhHxnNPz=]|[qQlL]\d*|[bt:][ \t]*\w*|[sy]([/|,#@!%_])${bodyOf(String.raw`\1`)}\1${REPLACEMENT}[gpiImM\d]*)(?=\s*(?:[;}\n]|$))`;

/** A script for sed that only prints: no command `e`, `r`, `w`, `R` or `W`, no flag `e` or `w`. Other harmless scripts don't match. */
const PRINTS = new RegExp(
  String.raw`^(?:[\s;]*(?:${ADDRESS}(?:\s*,\s*${ADDRESS})?\s*(?:!\s*)?)?(?:[{}]|${COMMAND}))*[\s;]*$`,
);

/** What a program of awk needs to start another one, to write a file, to load code or to reach an address. */
const REACHES_OUT = /system|[|@]|>(?!=)|\/inet/;

/** The longest script that is looked at. */
const MOST_CHARACTERS = 2_000;

/**
 * Returns the indexes of those words of a command of sed or awk that are, or may be, a script which does more than print: one that starts
 * programs, or writes files.
 *
 * @example
 * riskyScripts('sed', ['sed', '-n', '1e id', 'file']); // [2]
 */
export function riskyScripts(program: string, words: readonly string[]): readonly number[] {
  if (program === 'sed')
    return scriptsOfSed(words)
      .filter(({ text }) => !onlyPrints(text))
      .map(({ at }) => at);
  if (program !== 'awk') return [];
  return [...words.keys()].slice(1).filter((at) => {
    const word = words[at] ?? '';
    const isSeparator = word.startsWith('-F') || words[at - 1] === '-F';
    return !isSeparator && REACHES_OUT.test(word.replaceAll('||', ' '));
  });
}

function onlyPrints(script: string): boolean {
  return script.length <= MOST_CHARACTERS && PRINTS.test(script);
}

interface Script {
  readonly at: number;
  readonly text: string;
}

/** The scripts are the values of `-e`; without any, and without a file of commands, the first other word. */
function scriptsOfSed(words: readonly string[]): readonly Script[] {
  const given: Script[] = [];
  const plain: Script[] = [];
  let hasFile = false;
  let areOptions = true;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const option = areOptions ? optionOfSed(word) : undefined;
    if (word === '--') areOptions = false;
    else if (option === undefined) plain.push({ at, text: word });
    else {
      if (option.value === undefined) at += 1;
      if (option.letter === 'e') given.push({ at, text: option.value ?? words[at] ?? '' });
      hasFile ||= option.letter === 'f';
    }
  }
  // The suffix of `-i` can be a word of its own, and then is usually empty.
  const first = plain.find(({ text }) => text !== '');
  return given.length > 0 || hasFile || first === undefined ? given : [first];
}

/** The option with a value that a word holds; `value` is undefined if it is the next word. */
function optionOfSed(word: string): { readonly letter: string; readonly value: string | undefined } | undefined {
  const long = /^--([efl])[a-z-]*(?:=(.*))?$/s.exec(word);
  // `--follow-symlinks` has no value.
  if (word.startsWith('--fo')) return { letter: '', value: '' };
  if (long !== null) return { letter: long[1] ?? '', value: long[2] };
  if (!/^-./.test(word)) return undefined;
  const [, letter = '', value = ''] = /^-[^-efil]*([efil])(.*)$/s.exec(word) ?? [];
  return { letter, value: value === '' && letter !== '' && letter !== 'i' ? undefined : value };
}
