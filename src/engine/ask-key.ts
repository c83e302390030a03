import { stepOf } from '../journal/address.js';

/** Key of a question that an effect asks: `t@ask:sure`, `a@tool#1.1.ask:sure`. */
export function askKey(effect: string, name: string): string {
  return `${effect}${stepOf(effect) === effect ? '@' : '.'}ask:${name}`;
}
