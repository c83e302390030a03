/**
 * Reads plans without running them: commands that check, draw or describe a plan load no part of the engine through this module.
 */
export { badInputs, typedInputs } from './plan/input-types.js';
export { budgetText } from './plan/budget.js';
export { escapeXml } from './lang/xml-block.js';
export { agentsOf, hasBudget } from './plan/nodes.js';
export { endorsedText } from './plan/endorsement.js';
export { checkPlan } from './plan/checks.js';
export { roundsText } from './plan/drawing.js';
export { withoutSupervision } from './plan/inherited-supervision.js';
export { traitsOf } from './plan/notations.js';
export { namedModels } from './plan/providers.js';
export { readsInput } from './plan/reads-input.js';
export { powersOf } from './plan/powers.js';
export type { Power } from './plan/powers.js';
export { withoutSecurity } from './plan/security-at.js';
export { securityText } from './plan/security.js';
export { supervisedText } from './plan/supervision.js';
export { BUILT_IN_TOOLS, READ_ONLY_TOOLS } from './plan/built-in-tools.js';
export { toolText } from './plan/tool-use.js';
export { selectTools } from './plan/tool-names.js';
