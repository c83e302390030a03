import { FORBIDDEN_NAMES } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from './findings.js';
import type { Fields } from './shape.js';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const LONGEST = 64;

export const NAME_FORM = {
  pattern: NAME.source,
  longest: LONGEST,
  except: [...FORBIDDEN_NAMES],
  from: 'name',
} as const;

/** Checks a name: letters, digits, `_` and `-`, not `-` first, at most 64. Problem codes: `bad-name`, `forbidden-name`. */
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

/** The form of an environment variable's name, for rows of key tables. */
export const VARIABLE_FORM = '^[A-Za-z_][A-Za-z0-9_]*$';

const VARIABLE = new RegExp(VARIABLE_FORM);

/** Checks the name of the environment variable that holds a provider's key. Problem code: `provider`. */
export function checkVariable(fields: Fields, key: string, name: string | undefined, called: string): void {
  if (name === undefined || VARIABLE.test(name)) return;
  // The text may be the secret key itself, so the message does not show it.
  const hint = 'write the name, such as OPENAI_API_KEY, and put the key into the environment';
  fields.error('provider', key, `${called} must be the name of an environment variable`, hint);
}
