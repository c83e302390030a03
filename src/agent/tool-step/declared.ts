import type { Json } from '../../base/json.js';
import { isPlainObject } from '../../base/json.js';
import type { JsonTemplate } from '../../lang/values.js';
import type { ToolUse } from '../../plan/tool-use.js';
import { commandOf } from '../../plan/tool-use.js';
import type { ToolCall } from '../model.js';
import type { Authored } from '../loop/guard.js';
import { inputOf } from '../loop/approval.js';

/**
 * What a step declares by its presence in a file that the user trusts: this call, with its author's arguments fixed, and those free into
 * which a value is inserted. So others may influence whether the call is made, and the inserted values.
 */
export function authored(use: ToolUse, call: ToolCall): Authored {
  const { name, input } = use;
  const command = commandOf(use);
  const given = inputOf(call) ?? {};
  if (command !== undefined) {
    const isFixed = command.every((word) => 'value' in word);
    const argv = Array.isArray(given['argv']) ? given['argv'].map(String) : [];
    return { isFixed, fixed: new Set(isFixed ? ['argv'] : []), declared: { commands: [argv] } };
  }
  const parts = partsOf(input);
  const fixed = Object.fromEntries([...parts].flatMap(([key, part]) => ('value' in part ? [[key, part.value]] : [])));
  const free = [...parts.keys()].filter((key) => !Object.hasOwn(fixed, key));
  return {
    isFixed: free.length === 0,
    fixed: new Set(Object.keys(fixed)),
    declared: { sends: [{ tool: name, fixed, free }] },
  };
}

/** The arguments of a call, as its author wrote them; empty for an input that is a single reference. */
function partsOf(input: JsonTemplate): ReadonlyMap<string, JsonTemplate> {
  if ('object' in input) return new Map(Object.entries(input.object));
  const value: unknown = 'value' in input ? input.value : undefined;
  return new Map(
    isPlainObject(value)
      ? Object.entries(value as Readonly<Record<string, Json>>).map(([key, one]) => [key, { value: one }])
      : [],
  );
}
