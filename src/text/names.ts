import { FORBIDDEN_NAMES } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from './findings.js';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const LONGEST = 64;

/** The form of such a name, for rows of tables. */
export const NAME_FORM = {
  pattern: NAME.source,
  longest: LONGEST,
  except: [...FORBIDDEN_NAMES],
  from: 'name',
} as const;

/**
 * Checks a name that templates, folders and addresses are made of: letters, digits, `_` and `-`, not `-` first, at most 64.
 * Problem codes: `bad-name`, `forbidden-name`.
 *
 * @example
 * checkName('a/b', 'step id', at, findings); // false, and a problem
 */
export function checkName(name: string, what: string, at: Position | undefined, findings: Findings): boolean {
  if (FORBIDDEN_NAMES.has(name)) {
    findings.error('forbidden-name', `${quoteShort(name)} cannot be used as a ${what}`, at, 'choose another name');
    return false;
  }
  if (name.length <= LONGEST && NAME.test(name)) return true;
  const hint = `use letters, digits, _ and -, at most ${LONGEST}, and no - in front`;
  findings.error('bad-name', `${quoteShort(name)} is not a valid ${what}`, at, hint);
  return false;
}
