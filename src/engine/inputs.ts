import { SkeinError } from '../base/errors.js';
import { cloneData, freezeData } from '../base/json.js';
import type { CompiledPlan } from './compile.js';
import { inputCell } from './cell.js';
import { EMPTY_VERSION } from './version.js';
import type { Version } from './version.js';

/**
 * The first state version: inputs are checked by name, cloned once and frozen (S1). Values of channels that the plan does not
 * declare as inputs are taken as first values of those channels.
 *
 * @throws SkeinError `SKEIN_INPUT` that names every missing and every unknown input.
 */
export function inputVersion(compiled: CompiledPlan, given: Readonly<Record<string, unknown>> | undefined): Version {
  const { plan, channels } = compiled;
  if (given === undefined && plan.inputs.length === 0) return EMPTY_VERSION;
  const values = given ?? {};
  let version = EMPTY_VERSION;
  const problems: string[] = [];
  const declared = new Set<string>();
  const put = (channel: string, value: unknown): void => {
    const at = channels.index.get(channel);
    if (at === undefined) problems.push(`'${channel}' is no input and no channel`);
    else version = version.with(at, inputCell(freezeData(cloneData(value)), channels.reducers[at]));
  };
  for (const input of plan.inputs) {
    declared.add(input.name);
    const value = Object.hasOwn(values, input.name) ? values[input.name] : input.default;
    if (value !== undefined) put(input.channel, value);
    else if (input.required) problems.push(`'${input.name}' is missing`);
  }
  for (const name of Object.keys(values)) if (!declared.has(name)) put(name, values[name]);
  if (problems.length === 0) return version;
  const known = plan.inputs.map((input) => input.name).join(', ');
  throw new SkeinError('SKEIN_INPUT', `inputs of '${plan.name}': ${problems.join('; ')}`, {
    hint: known === '' ? 'the workflow declares no inputs' : `it takes ${known}`,
  });
}
