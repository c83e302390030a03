/** Channel that holds a step's output; of a step in a loop, as it is reached from outside, behind the ids of the loops around it. */
export const stepChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.output`;

/** Channel of a loop that holds what a step of it gave in the round before, by the channel of that step. */
export const beforeChannel = (channel: string): string => `${channel}?`;

/** Channel that holds how a step ended; ids as in {@link stepChannel}. */
export const endingChannel = (...ids: readonly string[]): string => `steps.${ids.join('.outputs.')}.ending`;

/** Channels that hold the index of an item, and what it is called. */
export const countChannel = (map: string, word: 'index' | 'key'): string => `items.${map}.${word}`;

/** Channel that holds an item of a map, as its steps see it. */
export const itemChannel = (map: string): string => `items.${map}`;
