import { wholeDefinitionOf } from '../durable/identity.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Identity } from '../ports/durable.js';
import { ReadLog } from '../state/reads.js';
import type { LabelSource } from '../state/run-labels.js';
import type { Version } from '../state/version.js';

interface SeeingStep {
  readonly compiled: CompiledNode;
  readonly input: Version;
  readonly owner: LabelSource;
  readonly correction: string | undefined;
}

/**
 * What an attempt depends on of which nobody knows what it reads: on its node, with all that is inside of it, and on all that the step sees. That it took
 * too long is the end of such an attempt as long as these are the same.
 */
export class WholeAttempt extends ReadLog implements Identity {
  constructor(private readonly step: SeeingStep) {
    super(step.input, step.owner);
    this.all();
    this.corrected();
  }

  digest(): string {
    return wholeDefinitionOf(this.step.compiled);
  }

  protected override correction(): string | undefined {
    return this.step.correction;
  }
}
