import type { Json } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import { pathFault } from '../schema-paths.js';
import { resultSchema } from '../results.js';
import { outputSchema } from '../tool-steps.js';
import { schemaOfValues } from '../values-key.js';
import { lastOf, type Placed } from './blocks.js';
import type { CallStep } from './definition.js';
import type { Segment } from './expressions.js';
import { listed } from './flow.js';
import type { Fault, Names } from './order.js';

/** Checks a path into an output: a warning if no schema says the output is JSON, an error if a schema excludes the path. */
export function checkPath(leaf: Placed, path: readonly Segment[], reader: Placed, names: Names): Fault | undefined {
  const [first] = path;
  if (first === undefined) return undefined;
  if (leaf.step.type === 'wait') return undefined;
  if (leaf.step.type === 'call') return checkValues(leaf.step, first.text, reader, names);
  const schema = schemaOf(leaf, names);
  const { label } = leaf.step;
  if (schema === undefined) {
    const message = `${reader.step.label} looks into the output of ${label}, which has no schema`;
    const hint = 'add a schema to that step, or make sure that its output is JSON';
    return { code: 'no-structured-output', message, hint, severity: 'warning' };
  }
  const fault = pathFault(
    schema,
    path.map((segment) => segment.text),
    names.findings,
  );
  if (fault === undefined) return undefined;
  const message = `${reader.step.label} looks into the output of ${label}: ${fault.message}`;
  return { code: 'no-such-path', message, hint: fault.hint };
}

function checkValues(step: CallStep, name: string, reader: Placed, names: Names): Fault | undefined {
  const values = names.calls.get(step.call)?.values;
  if (values === undefined || Object.hasOwn(values, name)) return undefined;
  const message = `${reader.step.label} looks into the output of ${step.label}, whose file does not give ${quoteShort(name)}`;
  const known = Object.keys(values);
  return { code: 'no-such-path', message, hint: names.findings.near(name, known) ?? `it gives: ${listed(known)}` };
}

export function schemaOf(leaf: Placed, names: Names): Json | undefined {
  const { step } = leaf;
  if (step.type === 'agent') return step.schema ?? names.agents.get(step.agent?.text ?? '')?.spec.output?.schema;
  if (step.type === 'ask') return step.ask.schema;
  if (step.type === 'set') return schemaOfValues(step.values);
  if (step.type === 'run' || step.type === 'tool') return outputSchema(step.tool);
  if (step.type === 'loop') return lastSchema(leaf, names);
  if (step.type === 'call') return resultSchema(names.calls.get(step.call));
  return step.type === 'map' ? { type: 'array', items: lastSchema(leaf, names) ?? {} } : undefined;
}

function lastSchema(holder: Placed, names: Names): Json | undefined {
  const last = lastOf(holder);
  return last === undefined ? undefined : schemaOf(last, names);
}
