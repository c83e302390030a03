import type { Plan } from '../../plan/plan.js';
import type { Block } from './blocks.js';
import type { CallStep, PipelineDef } from './definition.js';
import type { Names } from './references.js';
import type { Texts } from './templates.js';

/** What nodes are built from. */
export interface NodeParts {
  readonly definition: PipelineDef;
  readonly names: Names;
  readonly texts: Texts;
  /** The plan of a block. */
  readonly planOf: (block: Block) => Plan;
  readonly calls: ReadonlyMap<CallStep, Plan>;
}
