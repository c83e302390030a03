import { quoteShort } from '../../lang/value-text.js';
import type { NodeBase, Plan } from '../../plan/plan.js';
import { superviseInside, gateProblem } from '../../plan/inherited-supervision.js';
import type { Security } from '../../plan/security.js';
import type { SourceScalar } from '../../text/nodes.js';
import { securityFrom } from '../security-key.js';
import type { SecurityDef } from '../security-key.js';
import { GATE_HINT, supervisionFields, supervisionOf, supervisionOfWhole } from '../supervise-key.js';
import type { SuperviseDef } from '../supervise-key.js';
import { findModels } from './agents/agent-models.js';
import { around } from './blocks.js';
import type { Placed } from './blocks.js';
import type { PipelineDef } from './definition.js';
import type { Names } from './order.js';
import type { Texts } from './templates.js';

/** What supervisions are made with. */
export interface SupervisionParts {
  readonly definition: PipelineDef;
  readonly names: Names;
  readonly texts: Texts;
}

/** The supervision of a node: an agent has that of the file unless it, or a step around it, says otherwise; any other step has its own alone. */
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

/** What the file says, unless a step around takes its agents out. */
function outsideOf(placed: Placed, { supervise }: PipelineDef): SuperviseDef | undefined {
  const [, ...holders] = around(placed);
  return holders.find(({ step }) => step.supervise?.mode === 'nobody')?.step.supervise ?? supervise;
}

/** The model that a key names for who judges. */
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

/** The plan of a file that is called, supervised as the step that calls it is. Problem code: `human-gate`. */
export function supervisedFile(plan: Plan, placed: Placed, { definition, names }: SupervisionParts): Plan {
  const def = placed.step.supervise?.mode === 'nobody' ? placed.step.supervise : outsideOf(placed, definition);
  if (def === undefined || def.mode === 'nobody') return plan;
  // What is promised stands in texts of this file.
  const { instruction: _, ...inside } = def;
  const { supervise } = supervisionFields(inside, {
    template: () => [],
    model: (text) => modelOf(text, 'supervise', definition, names.findings),
  });
  if (supervise === undefined) return plan;
  return superviseInside(plan, supervise, {
    removesGate: (node, path) => {
      const label = `step ${quoteShort(path.join('/'))} of the file that ${placed.step.label} calls`;
      const { message, hint } = gateProblem(label, node.unsupervised === true, GATE_HINT);
      names.findings.error('human-gate', message, node.at ?? placed.step.at, hint);
    },
  });
}

/** The security of the file or of a step. */
export function securityOf(
  def: SecurityDef | undefined,
  { definition, names }: Pick<SupervisionParts, 'definition' | 'names'>,
): Security | undefined {
  return securityFrom(def, (text) => modelOf(text, 'security', definition, names.findings));
}
