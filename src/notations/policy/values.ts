import { TOOL_ARGUMENTS, parsePermissionRule } from '../../plan/permission-rule.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import type { SourceEntry } from '../../text/nodes.js';
import { describe } from '../../text/nodes.js';
import { toolOf } from '../agentfile/tools.js';

/** Reads `true` or `false`. Any other value is reported and counts as `false`. */
export function readFlag({ key, value }: SourceEntry, findings: Findings): boolean {
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return value.value;
  findings.error('wrong-type', `${key} must be true or false`, value.at, 'write true or false, without quotes');
  return false;
}

/** Reads one of several words. */
export function readWord<T extends string>(
  { key, value }: SourceEntry,
  words: readonly T[],
  findings: Findings,
): T | undefined {
  const found = value.kind === 'scalar' ? words.find((word) => word === value.value) : undefined;
  if (found === undefined)
    findings.error(
      'unknown-value',
      `${key} must be ${words.join(' or ')}`,
      value.at,
      `write one of: ${words.join(', ')}`,
    );
  return found;
}

/** Reads a list of texts. Undefined if it has none. */
export function readTexts({ key, value }: SourceEntry, findings: Findings): readonly string[] | undefined {
  const items = value.kind === 'list' ? value.items : undefined;
  if (items === undefined) {
    const message = `${key} must be a list of texts, not ${describe(value)}`;
    findings.error('wrong-type', message, value.at, 'write a list: ["one", "two"]');
    return undefined;
  }
  const texts = items.flatMap((item) => {
    if (item.kind === 'scalar' && typeof item.value === 'string' && item.text.trim() !== '') return [item.text.trim()];
    findings.error(
      'wrong-type',
      `${key} must be a list of texts; this entry is ${describe(item)}`,
      item.at,
      'put quotes around it, or take it out',
    );
    return [];
  });
  return texts.length === 0 ? undefined : texts;
}

/** Reads rules for calls, each in the form of a permission. `ruleOf` converts a written text to a rule. */
export function readRules(
  { key, value, at }: SourceEntry,
  findings: Findings,
  ruleOf: (text: string) => string = ownRule,
): readonly string[] | undefined {
  const texts = readTexts({ key, value, at }, findings);
  return texts?.flatMap((text) => {
    const rule = ruleOf(text);
    const wrong = wrongWith(rule);
    if (wrong === undefined) return [rule];
    const item =
      value.kind === 'list' ? value.items.find((one) => one.kind === 'scalar' && one.text.trim() === text) : undefined;
    const hint = 'write a tool (shell), a tool of a server (github:get_*), or an argument (shell:cmd=git *)';
    findings.error('policy-rule', `${key}: ${quoteShort(text)} can't be used: ${wrong}`, item?.at ?? at, hint);
    return [];
  });
}

function wrongWith(rule: string): string | undefined {
  const parsed = parsePermissionRule(rule);
  if (typeof parsed === 'string') return parsed;
  const names = TOOL_ARGUMENTS.get(parsed.tool.toLowerCase());
  const strange = parsed.args.find(({ name }) => names?.includes(name) === false)?.name;
  return strange === undefined ? undefined : `${parsed.tool} has no argument ${quoteShort(strange)}`;
}

/** Converts a rule: `server:tool` is a tool of a server, and a built-in tool gets its own name. */
function ownRule(text: string): string {
  if (/^(?!mcp:)[^:\s=]+:[^:\s=]+$/.test(text)) return `mcp:${text}`;
  const [name = ''] = text.split(':', 1);
  const tool = toolOf(name);
  return tool === undefined ? text : tool + text.slice(name.length);
}
