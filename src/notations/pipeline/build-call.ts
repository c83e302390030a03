import { quoteShort } from '../../lang/value-text.js';
import type { CallNode, InputSpec, NodeBase, Plan, SubInputs } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import type { Placed } from './blocks.js';
import type { NodeParts } from './node-parts.js';
import type { CallStep } from './definition.js';
import { PROMPT } from './references.js';

type Given = Record<string, SubInputs[string]>;

/**
 * The node of another file. An input `prompt` that is not given otherwise gets what the user message of an agent would be.
 *
 * Problem codes: `unknown-input`, `missing-input`.
 *
 * @example
 * const node = buildCall(placed, step, { id: 'publish' }, parts);
 */
export function buildCall(placed: Placed, step: CallStep, base: NodeBase, parts: NodeParts): CallNode {
  const plan = parts.calls.get(step);
  // The file could not be loaded, which was reported.
  if (plan === undefined) return { kind: 'call', ...base, plan: NOTHING };
  const { findings } = parts.names;
  const inputs: Given = {};
  const byName = new Map(plan.inputs.map((input) => [input.name, input]));
  for (const { name, value, at } of step.inputs) {
    const input = byName.get(name);
    if (input !== undefined) inputs[input.channel] = { template: parts.texts.template(value, placed) };
    else {
      const known = byName.size === 0 ? 'it has no inputs' : `its inputs are: ${[...byName.keys()].join(', ')}`;
      const message = `${step.label} gives the input ${quoteShort(name)}, which its file does not have`;
      findings.error('unknown-input', message, at, findings.near(name, byName.keys()) ?? known);
    }
  }
  const prompt = byName.get(PROMPT);
  if (prompt !== undefined && !Object.hasOwn(inputs, prompt.channel)) {
    inputs[prompt.channel] = { template: parts.texts.message(step.prompt, placed) };
  } else if (step.prompt !== undefined) {
    const message = `${step.label} has a prompt, and ${prompt === undefined ? 'its file has no input with this name' : 'also gives the input "prompt"'}`;
    findings.error('unknown-input', message, step.prompt.at, 'give the inputs of the file under inputs');
  }
  checkMissing(step, plan.inputs, inputs, findings);
  const outputs = Object.fromEntries(placed.outputs.map(({ channel, inner = channel }) => [channel, inner]));
  return { kind: 'call', ...base, writes: Object.keys(outputs), plan, inputs, outputs };
}

const NOTHING: Plan = { format: 1, name: '', inputs: [], channels: [], nodes: [], edges: [], routes: [] };

function checkMissing(step: CallStep, wanted: readonly InputSpec[], given: Given, findings: Findings): void {
  for (const { name, channel, required } of wanted) {
    if (!required || Object.hasOwn(given, channel)) continue;
    const message = `${step.label} does not give the input ${quoteShort(name)}, which its file needs`;
    findings.error('missing-input', message, step.file?.at ?? step.at, `add ${name} under inputs`);
  }
}
