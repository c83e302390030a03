import type { Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { CallDef } from '../call-keys.js';
import type { InputDef } from '../inputs-key.js';
import type { Block } from './blocks.js';
import type { AgentDef, StepDef } from './definition.js';
import type { Flows } from './order.js';

/** What references are resolved in. */
export interface Names {
  readonly top: Block;
  readonly flows: Flows;
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly inputs: ReadonlyMap<string, InputDef>;
  /** Those that something needs. */
  readonly usedInputs: Set<string>;
  readonly calls: ReadonlyMap<CallDef, Plan>;
  readonly findings: Findings;
  readonly marks: Marks;
}

/** What is only built where somebody reads it. */
export interface Marks {
  /** Steps of which somebody reads how they ended. */
  readonly told: Set<StepDef>;
  /** Maps of which somebody reads the index or the name of an item. */
  readonly counted: Set<StepDef>;
}
