import { seededRandom as sequenceOf } from '../base/ids.js';

/**
 * A stream of numbers in [0, 1) that is the same for the same seed, on every machine.
 *
 * @example
 * const random = seededRandom('case 17');
 * random() === seededRandom('case 17')(); // true
 */
export function seededRandom(seed: string | number): () => number {
  return sequenceOf(String(seed));
}

/**
 * A chooser that takes any of the things it is offered, by a seed: the completion order of a simulated run.
 *
 * @example
 * const durable = new ManualDurable({ choose: seededChooser(42) });
 */
export function seededChooser(seed: string | number): (offered: readonly unknown[]) => number {
  const random = seededRandom(seed);
  return (offered) => Math.floor(random() * offered.length);
}
