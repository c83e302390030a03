import { isThenable } from '../../../base/at-once.js';
import { SkeinError } from '../../../base/errors.js';
import { asRecorded, isPlainObject } from '../../../base/json.js';
import { isGoto, jumpOf, type Goto } from '../../../plan/goto.js';
import { probedBy, probedOf, type LostCall, type Probed } from '../../../plan/probe.js';
import type { Lost } from '../../ports/recording.js';
import type { ReadLog } from '../../state/reads.js';
import type { Step } from '../step.js';

/** Converts the result of a function that may choose the next node to its recorded form. */
export function resultOf({ compiled }: Step, result: unknown): unknown {
  if (!compiled.jumps) return result;
  return isThenable(result) ? Promise.resolve(result).then(jumpOf) : jumpOf(result);
}

/** Converts a result to its recorded form. Refuses a jump that no route follows: its record would look like a success. */
export function recordedResult(step: Step, result: unknown): unknown {
  const { jumps, output } = step.compiled;
  const give = (value: unknown): unknown => {
    if (!jumps && isGoto(value)) throw strayJump(step, value);
    if (output >= 0) return jumps ? jumpOf(value) : value;
    if (!jumps) return recordedUpdate(value);
    const { update, ...jump } = jumpOf(value);
    return update === undefined ? jump : { ...jump, update: recordedUpdate(update) };
  };
  // Not every thenable returns a promise from `then`.
  return isThenable(result) ? Promise.resolve(result).then(give) : give(result);
}

/** What is known of a function that was interrupted: its probe's findings, or that a person says it was done. */
export function lostTask(step: Step, log: Pick<ReadLog, 'lostReads'>): Lost {
  const { probe, id } = step.compiled;
  const value = (): undefined => {
    log.lostReads();
  };
  if (probe === undefined) return { value };
  const ask = async (lost: LostCall): Promise<Probed> => {
    const idempotencyKey = step.keyOfCall(lost.idempotencyKey);
    const found = probedOf(await probe(step.view(probe), { ...lost, idempotencyKey }));
    if (found?.done !== true) return found;
    log.lostReads();
    const result = await recordedResult(step, found.result);
    return { done: true, result: result === undefined ? result : asRecorded(result) };
  };
  return { value, probe: (lost) => probedBy(id, ask, lost, (note) => step.emit({ type: 'step.note', note })) };
}

export function strayJump({ compiled }: Step, { goto }: Goto): SkeinError {
  const to = typeof goto === 'string' ? goto : goto.join("', '");
  const message = `'${compiled.id}' returned goto('${to}'), but does not declare that it chooses the next node`;
  return new SkeinError('SKEIN_BAD_UPDATE', message, {
    hint: `say so: { goto: ['${to}'] } in the options of a graph's node, choose: 'result' in a route of a plan`,
  });
}

/** A name that no channel can have (FORBIDDEN_NAMES): in a recorded update it lists the channels that the update clears. */
const CLEARED = 'prototype';

/** An update in recorded form: JSON has no undefined, and clearing a channel differs from leaving it out. */
function recordedUpdate(update: unknown): unknown {
  if (!isPlainObject(update)) return update;
  const names = Object.keys(update).filter((name) => update[name] === undefined);
  return names.length === 0 ? update : { ...update, [CLEARED]: names };
}

export function updateOf(recorded: unknown): unknown {
  if (!isPlainObject(recorded) || !Object.hasOwn(recorded, CLEARED)) return recorded;
  const { [CLEARED]: names, ...update } = recorded;
  if (!Array.isArray(names)) return recorded;
  for (const name of names as unknown[]) if (typeof name === 'string') update[name] = undefined;
  return update;
}
