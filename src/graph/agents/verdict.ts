import { ownValue } from '../../base/json.js';
import { withoutAtEnd } from '../../base/text.js';
import { parseJsonText } from '../../lang/json-path.js';
import { valueText } from '../../lang/value-text.js';

/** The critic's verdict. */
export interface Verdict {
  readonly accepted: boolean;
  /** What to improve, as text. */
  readonly critique: string;
}

/** Keys of a structured verdict that hold yes or no. */
const YES_OR_NO = ['accepted', 'accept', 'approved', 'verdict', 'decision'] as const;
const WHY = ['critique', 'feedback', 'reason', 'comments'] as const;
const YES = new Set(['accept', 'accepted', 'approve', 'approved', 'yes', 'true']);

/**
 * Reads a critic's answer: an object (or JSON text) with a yes-or-no field, or a text with the marker on a line of its own. A marker within
 * a sentence, as in "DO NOT ACCEPT", does not accept.
 */
export function readVerdict(answer: unknown, marker: string): Verdict {
  const value = typeof answer === 'string' ? parseJsonText(answer) : answer;
  for (const key of YES_OR_NO) {
    const said = ownValue(value, key);
    if (typeof said !== 'boolean' && typeof said !== 'string') continue;
    const accepted = typeof said === 'boolean' ? said : YES.has(plain(said)) || plain(said) === plain(marker);
    return { accepted, critique: critiqueIn(value) ?? valueText(answer) };
  }
  const text = valueText(answer);
  return { accepted: text.split('\n').some((line) => plain(line) === plain(marker)), critique: text };
}

function critiqueIn(value: unknown): string | undefined {
  for (const key of WHY) {
    const said = ownValue(value, key);
    if (typeof said === 'string' && said !== '') return said;
  }
  return undefined;
}

/** Normalises a line: no case, no emphasis, no punctuation at its end. */
function plain(line: string): string {
  return withoutAtEnd(line.trim().replace(/^[*_`#>\s]+/, ''), '*_`.! \t\r\u00A0').toLowerCase();
}
