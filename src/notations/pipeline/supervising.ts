import { quoteShort } from '../../lang/value-text.js';
import type { NodeBase, Plan } from '../../plan/plan.js';
import type { Security } from '../../plan/security.js';
import type { SourceScalar } from '../../text/nodes.js';
import { securityFrom, type SecurityDef } from '../security-key.js';
import {
  supervisedFile,
  supervisionFields,
  supervisionOf,
  supervisionOfWhole,
  type SuperviseDef,
} from '../supervise-key.js';
import { findModels } from './agents/agent-models.js';
import { around, type Placed } from './blocks.js';
import type { PipelineDef } from './definition.js';
import type { Names } from './order.js';
import type { Texts } from './templates.js';

export interface SupervisionParts {
  readonly definition: PipelineDef;
  readonly names: Names;
  readonly texts: Texts;
}

/** Returns a node's supervision. An agent's defaults to the file's unless a step around it opts out; other steps only have their own. */
export function supervising(
  placed: Placed,
  { definition, names, texts }: SupervisionParts,
): Pick<NodeBase, 'supervise' | 'unsupervised'> {
  const { step } = placed;
  const outside = outsideOf(placed, definition);
  const { findings } = names;
  const def = (step.type === 'agent' ? supervisionOf : supervisionOfWhole)(step, outside, findings);
  return supervisionFields(def, {
    template: (text) => texts.template(text, placed),
    model: (text) => modelOf(text, 'supervise', definition, findings),
  });
}

/** Returns the supervision of the file, unless an enclosing step switches it off. */
function outsideOf(placed: Placed, { supervise }: PipelineDef): SuperviseDef | undefined {
  const [, ...holders] = around(placed);
  return holders.find(({ step }) => step.supervise?.mode === 'nobody')?.step.supervise ?? supervise;
}

function modelOf(
  text: SourceScalar,
  key: 'supervise' | 'security',
  { models }: PipelineDef,
  findings: Names['findings'],
): string | undefined {
  const { models: found, provider } = findModels([text], models, key, findings);
  if (provider !== undefined) {
    const message = `${key} can't use the model ${quoteShort(text.text)}: it has an address of its own`;
    findings.error('not-supported', message, text.at, 'name a model of a known provider, or leave it to the agent');
  }
  return found[0];
}

/** Returns the plan of a called file with the supervision of the calling step. */
export function supervisedCall(plan: Plan, placed: Placed, { definition, names }: SupervisionParts): Plan {
  const { step } = placed;
  const { findings } = names;
  const outside = step.supervise?.mode === 'nobody' ? step.supervise : outsideOf(placed, definition);
  const model = (text: SourceScalar): string | undefined => modelOf(text, 'supervise', definition, findings);
  return supervisedFile(plan, step, { around: outside, model, findings });
}

export function securityOf(
  def: SecurityDef | undefined,
  { definition, names }: Pick<SupervisionParts, 'definition' | 'names'>,
): Security | undefined {
  return securityFrom(def, (text) => modelOf(text, 'security', definition, names.findings));
}
