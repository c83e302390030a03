import type { Identity } from '../ports/durable.js';

/** The identity of a time limit: its duration, and the identity of what it limits, so that a recorded expiry counts for nothing else. */
export function timeLimit(ms: number, limited: Identity): Identity {
  const timed = (digest: string): string => `${ms} ${digest}`;
  return {
    digest: () => timed(limited.digest()),
    also: () => limited.also?.().map(timed) ?? [],
    reads: () => limited.reads?.(),
    current: (name) => limited.current?.(name) ?? '',
    heard: () => limited.heard?.(),
    wrote: () => limited.wrote?.(),
    reused: (then) => limited.reused?.(then),
  };
}
