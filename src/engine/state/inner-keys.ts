import { stepOf } from '../../base/address.js';

/** Key of something that an effect does in addition: `t@outcome`, `a@tool#1.1.outcome`. */
export function innerKey(effect: string, name: string): string {
  return `${effect}${stepOf(effect) === effect ? '@' : '.'}${name}`;
}

/** Key of a question that an effect asks: `t@ask:sure`, `a@tool#1.1.ask:sure`. */
export function askKey(effect: string, name: string): string {
  return innerKey(effect, `ask:${name}`);
}
