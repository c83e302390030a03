import { wholeDefinitionOf } from '../durable/identity.js';
import type { Label } from '../../guard/label.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Identity, Past } from '../ports/recording.js';
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
  wrote(path: string): void;
  writtenInside(): readonly string[] | undefined;
}

/** The dependencies of an attempt whose reads are unknown: its node with everything inside it, and the whole state. */
export class WholeAttempt extends ReadLog implements Identity {
  constructor(private readonly step: SeeingStep) {
    super(step.input, step.owner);
    this.all();
    this.corrected();
  }

  digest(): string {
    return wholeDefinitionOf(this.step.compiled);
  }

  /** The labels of what the step saw are already counted; what happened inside is in no other record. */
  override reused({ heard, wrote = [] }: Past): void {
    if (heard !== undefined) this.step.influenced(this.step.owner.run.labels.of(heard));
    for (const path of wrote) this.step.wrote(path);
  }

  override heard(): Label | undefined {
    return this.step.heardInside();
  }

  override wrote(): readonly string[] | undefined {
    return this.step.writtenInside();
  }

  protected override correction(): string | undefined {
    return this.step.correction;
  }
}
