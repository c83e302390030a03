import { stepOf } from './address.js';

/** Name that a question of an inner run has in the step that started that run. `count`: how often the address was asked in the step. */
export function aroundName(address: string, count: number): string {
  const name = address.replaceAll('@', ' ').replaceAll('.ask:', ' ask:');
  return count === 1 ? name : `${count}:${name}`;
}

/** In the names of all that runs inside a step do. */
const INSIDE = /(?:^|[.+])in:/;

/** The name of a run in the step that started it, also in a part of that step. A step follows it. */
const RUN = /^(?:.*[.+])?in:[^ ]*$/;

/** `tool#1.1` of `in:payer:61DSaljF payer tool#1.1`, the name that an effect of a run inside a step has in that step. Undefined for other names. */
export function effectInside(name: string): string | undefined {
  const at = name.lastIndexOf(' ');
  const before = name.lastIndexOf(' ', at - 1);
  if (before < 0 || !INSIDE.test(name)) return undefined;
  return RUN.test(name.slice(before + 1, at)) ? undefined : name.slice(at + 1);
}

/** The step of a key; of an effect of a run inside it, the step of that run, as if the run were a step: `t/in:payer:61DSaljF/payer`. */
export function innermostStep(key: string): string {
  const step = stepOf(key);
  const name = key.slice(step.length + 1);
  if (!INSIDE.test(name)) return step;
  const isEffect = effectInside(name) !== undefined;
  const inside = isEffect ? name.slice(0, name.lastIndexOf(' ')) : name;
  return `${step}/${inside.replaceAll(' ', '/')}`;
}

const REFUSED = 'refused.';

/** Name of the failure of a step whose model call succeeded with an answer that the step can't use. */
export function refusedName(call: string): string {
  return `${REFUSED}${call}`;
}

/** Key of the model call whose answer was refused under such a key; undefined for other keys. */
export function refusedCall(key: string): string | undefined {
  const step = stepOf(key);
  // The name of a part, in a run inside the step, ends with that of the call.
  const at = Math.max(step.length, key.lastIndexOf(' ')) + 1;
  return key.startsWith(REFUSED, at) ? key.slice(0, at) + key.slice(at + REFUSED.length) : undefined;
}
