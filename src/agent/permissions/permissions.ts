import { lazily } from '../../base/collections.js';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import { matchesWildcard } from '../../lang/wildcard.js';
import type { Permissions } from '../../plan/agent-spec.js';
import { toolArguments, parsePermissionRule, type PermissionRule } from '../../plan/permission-rule.js';
import type { OpenedTool } from '../session.js';
import type { BuiltInTool } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import { addressForms, argumentOf, pathForms } from './argument-values.js';
import { commandForms } from './command-forms.js';
import { matchesAddress, matchesCommand, matchesPath } from './narrow-match.js';
import type { ToolOrigin } from '../tool.js';

export interface WantedCall {
  readonly name: string;
  /** Undefined if it is not a JSON object: such a call has no effect. */
  readonly input: JsonObject | undefined;
  /** Absent for a tool of the step itself, or an unknown tool. */
  readonly tool: Pick<OpenedTool, 'effect' | 'origin'> | undefined;
}

/** The decision of the rules about a call. `free`: no rule applies, and the call only reads. */
export type Verdict =
  | { readonly kind: 'ask' | 'free' }
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'deny'; readonly rule: string; readonly why: 'matches' | 'opaque' };

/**
 * Creates the check of an agent's permissions. `isGranted`: calls that no rule covers are allowed. The check depends only on the rules, the
 * call and the working directory, so a replay decides as the run did.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a rule that cannot be parsed, or that names an argument which its tool does not have: a call
 *   meant to be prevented must not pass.
 */
export function permissionCheck(
  permissions: Permissions,
  { agent, cwd, isGranted = false }: { readonly agent: string; readonly cwd: string; readonly isGranted?: boolean },
): (call: WantedCall) => Verdict {
  const [deny, allow, ask] = [permissions.deny, permissions.allow, permissions.ask].map((rules) =>
    (rules ?? []).map((rule) => readRule(rule, agent)),
  );
  return (call) => {
    const seen = { call, cwd, builtIn: call.tool?.origin === undefined ? builtInOf(call.name) : undefined };
    for (const rule of deny ?? []) {
      const why = caught(rule, seen);
      if (why !== undefined) return { kind: 'deny', rule: rule.text, why };
    }
    const allowed = allow?.find((rule) => isAllowed(rule, seen));
    if (allowed !== undefined) return { kind: 'allow', rule: allowed.text };
    if (ask?.some((rule) => caught(rule, seen) !== undefined) === true) return { kind: 'ask' };
    const isFree = isGranted || call.tool === undefined || call.tool.effect === 'read';
    return { kind: isFree ? 'free' : 'ask' };
  };
}

interface Seen {
  readonly call: WantedCall;
  readonly cwd: string;
  readonly builtIn: BuiltInTool | undefined;
}

function readRule(text: string, agent: string): PermissionRule {
  const rule = parsePermissionRule(text);
  if (typeof rule === 'string') throw badRule(agent, text, rule, 'write TOOL or TOOL:ARG=PATTERN');
  const names = toolArguments().get(rule.tool.toLowerCase());
  const wrong = names === undefined ? undefined : rule.args.find((arg) => !names.includes(arg.name))?.name;
  if (names !== undefined && wrong !== undefined) {
    const hint = didYouMean(wrong, names) ?? `its arguments are: ${names.join(', ')}`;
    throw badRule(agent, text, `${rule.tool} has no argument "${wrong}"`, hint);
  }
  // A server name covers all of its tools.
  return /^mcp:[^:]+$/.test(rule.tool) ? { ...rule, tool: `${rule.tool}:*` } : rule;
}

function badRule(agent: string, text: string, why: string, hint: string): SkeinError {
  const message = `agent ${agent}: the permission ${JSON.stringify(text.slice(0, 100))} can't be used: ${why}`;
  return new SkeinError('SKEIN_DEFINITION', message, { hint });
}

/** Returns the names under which a rule may mean a tool; `more` adds those of a tool of a server. */
function namesOf({ call, builtIn }: Seen, more: (origin: ToolOrigin) => readonly string[]): readonly string[] {
  const { origin } = call.tool ?? {};
  const own = [call.name, builtIn ?? call.name];
  return origin === undefined
    ? own
    : [...own, `mcp:${origin.server}:${origin.tool}`, `${origin.server}/${origin.tool}`, ...more(origin)];
}

/** Rules that prevent a call match broadly: any name of the tool, any form of the value, in any case. */
function caught(rule: PermissionRule, seen: Seen): 'matches' | 'opaque' | undefined {
  const names = namesOf(seen, ({ server, tool }) => [`${server}_${tool}`, tool]);
  if (!names.some((name) => matchesWidely(rule.tool, name))) return undefined;
  const { input } = seen.call;
  if (rule.args.length === 0) return 'matches';
  if (input === undefined) return undefined;
  const found = rule.args.map(({ name, pattern }) => argumentCaught(name, pattern, input, seen));
  if (found.includes(undefined)) return undefined;
  return found.includes('opaque') ? 'opaque' : 'matches';
}

function argumentCaught(
  name: string,
  pattern: string,
  input: JsonObject,
  { builtIn, cwd }: Seen,
): 'matches' | 'opaque' | undefined {
  const { kind, values } = argumentOf(builtIn, name, input);
  if (values.length === 0) return undefined;
  if (kind === 'command') {
    const { lines, opaque } = commandForms(values);
    const wanted = pattern.replaceAll(/\s+/g, ' ');
    // `rm *` also covers `rm` without arguments.
    const patterns = wanted.endsWith(' *') ? [wanted, wanted.slice(0, -2)] : [wanted];
    if (lines.some((line) => patterns.some((one) => matchesWidely(one, line)))) return 'matches';
    return opaque ? 'opaque' : undefined;
  }
  const forms = values.flatMap((value) => {
    if (kind === 'path') return [value, ...pathForms(value, cwd).flatMap((path) => [path, `${path}/`])];
    return kind === 'address' ? addressForms(value) : [value];
  });
  if (kind === 'plain' && values.length > 1) forms.push(values.join(' '));
  return forms.some((form) => matchesWidely(pattern, form)) ? 'matches' : undefined;
}

function matchesWidely(pattern: string, text: string): boolean {
  return matchesWildcard(pattern.toLowerCase(), text.toLowerCase());
}

/** Tool names that a server may use, but that have another meaning in a rule. */
const reserved = lazily(() => new Set(toolArguments().keys()));

/** Rules that allow a call match narrowly: the server must be named, and every value must match in its normal form. */
function isAllowed(rule: PermissionRule, seen: Seen): boolean {
  const names = namesOf(seen, ({ server, tool }) => [`${server}_${tool}`].filter((joined) => !reserved().has(joined)));
  if (!names.some((name) => matchesWildcard(rule.tool, name))) return false;
  if (rule.args.length === 0) return true;
  const { input } = seen.call;
  return input !== undefined && rule.args.every(({ name, pattern }) => argumentAllowed(name, pattern, input, seen));
}

function argumentAllowed(name: string, pattern: string, input: JsonObject, { builtIn, cwd }: Seen): boolean {
  const { kind, values } = argumentOf(builtIn, name, input);
  if (values.length === 0) return false;
  if (kind === 'command') return matchesCommand(pattern, values);
  return values.every((value) => {
    if (kind === 'path') return pathForms(value, cwd).some((form) => matchesPath(pattern, form));
    // In each form, so that a server which reads it otherwise gives nothing else.
    if (kind === 'address') return addressForms(value).every((form) => matchesAddress(pattern, form));
    return matchesWildcard(pattern, value);
  });
}
