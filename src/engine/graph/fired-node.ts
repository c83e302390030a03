import { visitAddress } from '../../base/address.js';
import type { ErrorData } from '../../base/errors.js';
import type { CompiledNode } from './compile.js';
import type { Arrivals, Failure, Firing, Token } from './token.js';
import type { Version } from '../state/version.js';

export abstract class FiredNode {
  readonly path: string;
  /** Label of what decided that the node fires, and where the run continues after it. */
  control: number;
  /** Label of everything that influences the step, also in earlier attempts. */
  influence: number;

  constructor(
    prefix: string,
    readonly compiled: CompiledNode,
    private readonly firing: Firing | Token,
    readonly visit: number,
    /** Why the step fails before it starts. */
    protected readonly refusal: ErrorData | undefined,
  ) {
    this.path = visitAddress(prefix, compiled.id, visit);
    this.control = firing.influence;
    this.influence = firing.influence;
  }

  /** The state that the step sees (S2). */
  get input(): Version {
    return this.firing.version;
  }

  /** Causal depth: the number of nodes that ran one after another, including this one. */
  get depth(): number {
    return this.firing.depth + 1;
  }

  get round(): number {
    return this.firing.round;
  }

  /** True if the step fails before it starts, whatever `onError` is. */
  get refused(): boolean {
    return this.refusal !== undefined;
  }

  get leaf(): boolean {
    return this.compiled.leaf && this.refusal === undefined;
  }

  get arrivals(): Arrivals {
    const { firing } = this;
    return 'kind' in firing ? [firing] : (firing.arrivals ?? []);
  }

  get failure(): Failure | undefined {
    return this.firing.failure;
  }
}
