import { present, type Json } from '../../base/json.js';
import type { CallNode, NodeBase, Plan } from '../../plan/plan.js';
import type { Findings } from '../../text/findings.js';
import { callInputs, NO_PLAN } from '../call-inputs.js';
import type { CallDef } from '../step-keys.js';
import { calledOutputs, calledResult, resultSchema } from '../results.js';
import { supervisedFile, type SuperviseDef } from '../supervise-key.js';
import { allSteps, stepChannel, type StepDef } from './definition.js';
import type { Called, References } from './references.js';

/** The plans of called files. A file that could not be loaded is absent, and was reported. */
export type CalledPlans = ReadonlyMap<CallDef, Plan>;

/** Returns the result and outputs of called files, by the id of the calling step. */
export function calledBy(steps: readonly StepDef[], plans: CalledPlans): ReadonlyMap<string, Called> {
  return new Map(
    allSteps(steps).flatMap(({ id, call }) => {
      const plan = call && plans.get(call);
      return plan === undefined ? [] : [[id, { result: calledResult(plan), outputs: calledOutputs(plan) }] as const];
    }),
  );
}

export function valueSchemas(steps: readonly StepDef[], plans: CalledPlans): ReadonlyMap<string, Json> {
  return new Map(
    allSteps(steps).flatMap(({ id, call }) => {
      const schema = resultSchema(call && plans.get(call));
      return schema === undefined ? [] : [[id, schema] as const];
    }),
  );
}

interface CallParts {
  readonly call: CallDef;
  readonly base: NodeBase;
  readonly plans: CalledPlans;
  readonly supervise: SuperviseDef | undefined;
  readonly references: References;
}

/** Builds the node of a called file. Problem codes: `unknown-input`, `missing-input`, `human-gate`, and those of references. */
export function callNode(step: StepDef, parts: CallParts, findings: Findings): CallNode {
  const { call, base, plans, references } = parts;
  const { id, label, at } = step;
  const plan = plans.get(call);
  // The unloadable file was reported before.
  if (plan === undefined) return { ...base, kind: 'call', plan: NO_PLAN };
  const given = {
    label,
    at,
    call,
    template: (text: Parameters<References['template']>[0]) => references.template(text, step),
  };
  const { result, outputs: inner } = references.called.get(id) ?? { result: undefined, outputs: [] };
  const outputs = new Map([
    ...(result === undefined ? [] : [[stepChannel(id), result] as const]),
    ...inner.map(({ channel, names }) => [stepChannel(id, ...names), channel] as const),
  ]);
  return present({
    ...base,
    output: result === undefined ? undefined : base.output,
    kind: 'call' as const,
    writes: [...outputs.keys()],
    plan: supervisedFile(plan, step, { around: parts.supervise, findings }),
    inputs: callInputs(given, plan, findings),
    outputs: Object.fromEntries(outputs),
  });
}
