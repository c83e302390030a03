import { wholeDefinitionOf } from '../durable/identity.js';
import type { Label } from '../../guard/label.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Identity, Past } from '../ports/durable.js';
import { ReadLog } from '../state/reads.js';
import type { LabelSource } from '../state/run-labels.js';
import type { Version } from '../state/version.js';

interface SeeingStep {
  readonly compiled: CompiledNode;
  readonly input: Version;
  readonly owner: LabelSource;
  readonly correction: string | undefined;
  influenced(label: number): void;
  heardInside(): Label | undefined;
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

  /** What it saw has had its say, or has none; what was heard inside of it is found in no other record. */
  override reused({ heard }: Past): void {
    if (heard !== undefined) this.step.influenced(this.step.owner.run.labels.of(heard));
  }

  override heard(): Label | undefined {
    return this.step.heardInside();
  }

  protected override correction(): string | undefined {
    return this.step.correction;
  }
}
