/** Lookalikes of the letters in the words of a frame, by letter. */
const LETTERS: Readonly<Record<string, string>> = {
  d: 'ԁᴅ',
  e: 'еєεᴇ℮',
  i: 'іιıɪӏ',
  n: 'ոηɴп',
  o: 'оοօᴏ',
  p: 'рρᴘ',
  r: 'гʀᴦ',
  s: 'ѕꜱʂ',
  t: 'тτᴛ',
  u: 'υսцᴜ',
};

/** A pattern that finds lookalikes, and the letter of each. */
interface Lookalikes {
  readonly found: RegExp;
  readonly letters: ReadonlyMap<string, string>;
}

let made: Lookalikes | undefined;

/** Created on first use: few runs compare lines. */
function lookalikes(): Lookalikes {
  made ??= {
    found: new RegExp(`[${Object.values(LETTERS).join('')}]`, 'gu'),
    letters: new Map(
      Object.entries(LETTERS).flatMap(([plain, likes]) => Array.from(likes, (like) => [like, plain] as const)),
    ),
  };
  return made;
}

/** Removes invisible characters: controls, formats, marks on letters, selectors and fillers. */
function seenOf(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{M}\u115F\u1160\u3164\uFFA0\u2800]/gu, '');
}

/** A longer line is judged by its ends alone: heads and frames are shorter. */
const LONGEST_JUDGED = 4_000;

/** Whether the first and the last visible character of a line allow a frame: brackets and a colon, or dashes. */
export function mayLookFramed(line: string): boolean {
  const seen = seenOf(line);
  const last = lastSeen(seen)?.at(-1);
  if (last !== ':' && last !== '-') return false;
  return firstSeen(seen)?.at(0) === (last === ':' ? '[' : '-');
}

/** The look of the first visible character. */
function firstSeen(text: string): string | undefined {
  for (const character of text) {
    const look = looksOf(character);
    if (look !== '') return look;
  }
  return undefined;
}

/** The look of the last visible character. */
function lastSeen(text: string): string | undefined {
  for (let end = text.length; end > 0;) {
    const code = text.codePointAt(end - 2) ?? 0;
    const character = code > 0xff_ff ? String.fromCodePoint(code) : text.charAt(end - 1);
    const look = looksOf(character);
    if (look !== '') return look;
    end -= character.length;
  }
  return undefined;
}

/** Looks of single characters: lines begin and end with few different ones, and may be entirely blank. */
const looks = new Map<string, string>();
/** Exceeds the number of blank characters in Unicode. */
const MOST_LOOKS = 2_000;

function looksOf(character: string): string {
  const known = looks.get(character);
  if (known !== undefined) return known;
  if (looks.size === MOST_LOOKS) looks.clear();
  const look = skeletonOf(character).trim();
  looks.set(character, look);
  return look;
}

/** Whether a line is judged by its ends alone. One character may expand to eighteen. */
export function isTooLong(line: string): boolean {
  return seenOf(line).normalize('NFKD').length > LONGEST_JUDGED;
}

/** Returns the look of a line, for comparison: without invisible characters, and with plain characters for lookalikes. */
export function skeletonOf(line: string): string {
  const { found, letters } = lookalikes();
  // Marks are also removed first: normalizing a long row of them takes quadratic time.
  const plain = seenOf(seenOf(line).normalize('NFKD'))
    // Dashes, minus signs and box drawings; a long one may pass for three.
    .replace(/[\p{Pd}\u2212\u2043\u02D7\u30FC\u2500-\u2503\u2504\u2505\u254C\u254D\u23AF\u2796]/gu, (dash) =>
      dash === '-' ? dash : '---',
    )
    .replace(/[\u2236\uA789\u02D0\u0589\u05C3\uFE55\u0703\u0704]/g, ':')
    .replace(/[\u3010\u3014\u2772\u27E6\u301A\u2045]/g, '[')
    .replace(/[\u3011\u3015\u2773\u27E7\u301B\u2046]/g, ']')
    .toLowerCase();
  return plain.replace(found, (like) => letters.get(like) ?? like);
}
