import type { ScopeOwner } from '../services.js';

/** What the owner of a scope says that is around all others: there is nothing around it. */
export class Outermost implements Omit<ScopeOwner, 'scopeEnded'> {
  readonly correction = undefined;

  stopClock(): () => void {
    return () => undefined;
  }

  callsOnce(): void {}

  influenced(): void {}

  again(): undefined {
    return undefined;
  }
}
