/**
 * A stream of numbers in [0, 1) that is the same for the same seed, on every machine.
 *
 * @example
 * const random = seededRandom('case 17');
 * random() === seededRandom('case 17')(); // true
 */
export function seededRandom(seed: string | number): () => number {
  let state = hashText(String(seed));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** FNV-1a over the UTF-16 code units: enough to spread seeds, no digest. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
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
