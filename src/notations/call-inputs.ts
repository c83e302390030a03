import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import { inputValue } from '../plan/input-types.js';
import type { InputSpec, Plan, SubInputs } from '../plan/plan.js';
import type { Findings } from '../text/findings.js';
import type { SourceScalar } from '../text/nodes.js';
import type { CallDef } from './step-keys.js';
import { jsonTemplate } from './values-key.js';

export interface Calling {
  readonly label: string;
  readonly at: Position;
  readonly call: CallDef;
  /** Inputs passed without being named, by channel. */
  readonly also?: SubInputs;
  template(text: SourceScalar): Template;
}

/** A placeholder for the plan of a file that could not be loaded. */
export const NO_PLAN: Plan = { format: 1, name: '', inputs: [], channels: [], nodes: [], edges: [], routes: [] };

/** Returns a called file's inputs by channel. Problem codes: `unknown-input`, `missing-input`, `bad-input`, and those of references. */
export function callInputs(calling: Calling, plan: Plan, findings: Findings): SubInputs {
  const { call, label, also = {} } = calling;
  const byName = new Map(plan.inputs.map((input) => [input.name, input]));
  const inputs: Record<string, SubInputs[string]> = {};
  for (const { name, value, at } of call.inputs) {
    const input = byName.get(name);
    if (input !== undefined) {
      const given = jsonTemplate(value, (text) => calling.template(text));
      inputs[input.channel] = given;
      checkValue(label, input, { given, at: value.at }, findings);
    } else {
      const known = byName.size === 0 ? 'it has no inputs' : `its inputs are: ${[...byName.keys()].join(', ')}`;
      const message = `${label} gives the input ${quoteShort(name)}, which its file does not have`;
      findings.error('unknown-input', message, at, findings.near(name, byName.keys()) ?? known);
    }
  }
  const all = { ...inputs, ...also };
  checkMissing(calling, plan.inputs, all, findings);
  return all;
}

/** Checks that a literal value is valid for its input. Problem code: `bad-input`. */
function checkValue(
  label: string,
  input: InputSpec,
  { given, at }: { readonly given: JsonTemplate; readonly at: Position },
  findings: Findings,
): void {
  const found = 'value' in given ? inputValue(input, given.value) : undefined;
  if (found === undefined || 'value' in found) return;
  const message = `${label}: the input ${quoteShort(input.name)} of its file ${found.why}`;
  findings.error('bad-input', message, at, found.hint ?? 'write another value');
}

function checkMissing(
  { label, at, call }: Calling,
  wanted: readonly InputSpec[],
  given: SubInputs,
  findings: Findings,
): void {
  for (const { name, channel, required } of wanted) {
    if (!required || Object.hasOwn(given, channel)) continue;
    const message = `${label} does not give the input ${quoteShort(name)}, which its file needs`;
    findings.error('missing-input', message, call.file?.at ?? at, `add ${name} under inputs`);
  }
}
