import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import { matchesWildcard } from '../../lang/wildcard.js';
import type { Permissions } from '../../plan/agent-spec.js';
import { TOOL_ARGUMENTS, parsePermissionRule } from '../../plan/permission-rule.js';
import type { PermissionRule } from '../../plan/permission-rule.js';
import type { OpenedTool } from '../session.js';
import type { BuiltInTool } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import { argumentOf, pathForms } from './argument-values.js';
import { commandForms } from './command-forms.js';
import { matchesAddress, matchesCommand, matchesPath } from './narrow-match.js';

/** A call that somebody wants to make. */
export interface WantedCall {
  /** Name that the model called. */
  readonly name: string;
  /** Undefined when it is not a JSON object: the call can do nothing. */
  readonly input: JsonObject | undefined;
  /** Absent: a tool of the step itself, or none at all. */
  readonly tool: Pick<OpenedTool, 'effect' | 'origin'> | undefined;
}

/** What the rules say of a call. `free`: no rule speaks of it, and it is only reading. */
export type Verdict =
  | { readonly kind: 'ask' | 'free' }
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'deny'; readonly rule: string; readonly why: 'matches' | 'opaque' };

/**
 * Makes the check of an agent's permissions; `isGranted`: what no rule speaks of is allowed. It depends on the rules, the call and the working directory alone, so a replay decides as
 * the run did.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a rule that can't be read, or that names an argument which its tool does not have: a call that
 *   somebody wanted to keep from happening must not slip through.
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
  const names = TOOL_ARGUMENTS.get(rule.tool.toLowerCase());
  const wrong = names === undefined ? undefined : rule.args.find((arg) => !names.includes(arg.name))?.name;
  if (names !== undefined && wrong !== undefined) {
    const hint = didYouMean(wrong, names) ?? `its arguments are: ${names.join(', ')}`;
    throw badRule(agent, text, `${rule.tool} has no argument "${wrong}"`, hint);
  }
  // A server is all of its tools.
  return /^mcp:[^:]+$/.test(rule.tool) ? { ...rule, tool: `${rule.tool}:*` } : rule;
}

function badRule(agent: string, text: string, why: string, hint: string): SkeinError {
  const message = `agent ${agent}: the permission ${JSON.stringify(text.slice(0, 100))} can't be used: ${why}`;
  return new SkeinError('SKEIN_DEFINITION', message, { hint });
}

/** Rules that keep a call back are read widely: any name of the tool, any form of the value, whatever the case. */
function caught(rule: PermissionRule, seen: Seen): 'matches' | 'opaque' | undefined {
  const { call, builtIn } = seen;
  const { origin } = call.tool ?? {};
  const names = [call.name, builtIn ?? call.name];
  if (origin !== undefined) {
    const { server, tool } = origin;
    names.push(`mcp:${server}:${tool}`, `${server}/${tool}`, `${server}_${tool}`, tool);
  }
  if (!names.some((name) => matchesWidely(rule.tool, name))) return undefined;
  const input = call.input;
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
    // `rm *` also means `rm` without anything behind it.
    const patterns = wanted.endsWith(' *') ? [wanted, wanted.slice(0, -2)] : [wanted];
    if (lines.some((line) => patterns.some((one) => matchesWidely(one, line)))) return 'matches';
    return opaque ? 'opaque' : undefined;
  }
  const forms = values.flatMap((value) => {
    if (kind === 'path') return [value, ...pathForms(value, cwd).flatMap((path) => [path, `${path}/`])];
    // An address as it is requested: host in small letters, without `..` in its path.
    return kind === 'address' && URL.canParse(value) ? [value, new URL(value).href] : [value];
  });
  if (kind === 'plain' && values.length > 1) forms.push(values.join(' '));
  return forms.some((form) => matchesWidely(pattern, form)) ? 'matches' : undefined;
}

function matchesWidely(pattern: string, text: string): boolean {
  return matchesWildcard(pattern.toLowerCase(), text.toLowerCase());
}

/** Names that servers may give to their tools, and that mean something else in a rule. */
const RESERVED: ReadonlySet<string> = new Set(TOOL_ARGUMENTS.keys());

/** Rules that let a call happen are read narrowly: the server must be named, and every value must match in its normal form. */
function isAllowed(rule: PermissionRule, seen: Seen): boolean {
  const { call, builtIn } = seen;
  const { origin } = call.tool ?? {};
  const names = [call.name, builtIn ?? call.name];
  if (origin !== undefined) {
    const { server, tool } = origin;
    const joined = `${server}_${tool}`;
    names.push(`mcp:${server}:${tool}`, `${server}/${tool}`, ...(RESERVED.has(joined) ? [] : [joined]));
  }
  if (!names.some((name) => matchesWildcard(rule.tool, name))) return false;
  if (rule.args.length === 0) return true;
  const { input } = call;
  return input !== undefined && rule.args.every(({ name, pattern }) => argumentAllowed(name, pattern, input, seen));
}

function argumentAllowed(name: string, pattern: string, input: JsonObject, { builtIn, cwd }: Seen): boolean {
  const { kind, values } = argumentOf(builtIn, name, input);
  if (values.length === 0) return false;
  if (kind === 'command') return matchesCommand(pattern, values);
  return values.every((value) => {
    if (kind === 'path') return pathForms(value, cwd).some((form) => matchesPath(pattern, form));
    return kind === 'address' ? matchesAddress(pattern, value) : matchesWildcard(pattern, value);
  });
}
