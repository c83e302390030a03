import type { JsonObject } from '../base/json.js';
import { isPlainObject, present } from '../base/json.js';
import type { DecidedCall, GuardedCallFacts, TrustFacts } from '../events/trust.js';

/** What the guard told in a run: calls that were not simply made, and the labels of steps. */
export class DecidedCalls {
  readonly list: DecidedCall[] = [];
  /** What had a say in what a step did; of others nobody but the user. */
  readonly labels = new Map<string, TrustFacts>();

  /** A note of a step, whatever it is about. */
  note(at: number, path: string, { kind, id: _id, ...facts }: JsonObject): void {
    if (kind === 'guard.decided') this.list.push({ at, path, ...(facts as unknown as GuardedCallFacts) });
    if (kind === 'guard.label') this.labels.set(path, facts as unknown as TrustFacts);
  }

  /** A person said what becomes of the calls of a step that wait. Anything but a clear yes is a no. */
  answered(path: string, value: unknown, by: string | undefined): void {
    const said = isPlainObject(value) ? value['answer'] : value;
    const answer = said === 'allow' ? 'allow' : 'deny';
    this.list.forEach((one, at) => {
      if (one.path === path && one.decision === 'ask' && one.answer === undefined)
        this.list[at] = { ...one, answer, ...present({ by }) };
    });
  }
}
