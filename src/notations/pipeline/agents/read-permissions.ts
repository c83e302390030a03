import { isWildcard, matchesWildcard } from '../../../lang/wildcard.js';
import { quoteShort } from '../../../lang/value-text.js';
import type { Permissions } from '../../../plan/agent-spec.js';
import {
  COMMAND_ARGUMENTS,
  toolArguments,
  parsePermissionRule,
  type PermissionRule,
} from '../../../plan/permission-rule.js';
import { runsAnything } from '../../../plan/risky-commands.js';
import type { Findings } from '../../../text/findings.js';
import type { SourceScalar } from '../../../text/nodes.js';
import { present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import { PERMISSIONS } from './keys.js';
import { FOREIGN_TOOLS, argumentOf } from './tool-names.js';

const FORM = 'write TOOL or TOOL:ARG=PATTERN, such as "shell:cmd=rm *"';

/**
 * Reads the section `permissions`: rules for all agents of the file. Names of cagent's tools are translated to Skein's. Without the section
 * there are no rules, and every call that does more than read waits for a person. Problem codes: `bad-permission`, `unknown-argument`,
 * `unknown-tool` (a warning: an MCP server may have the tool).
 */
export function readPermissions(root: Fields, servers: readonly string[]): Permissions {
  const fields = root.section('permissions', PERMISSIONS);
  const read = (key: keyof typeof PERMISSIONS.keys): readonly string[] | undefined => {
    const written = fields.texts(key);
    const rules = written?.flatMap((rule) => readRule(rule, key, servers, root.findings)) ?? [];
    return rules.length === 0 ? undefined : [...new Set(rules)];
  };
  return present({ deny: read('deny'), allow: read('allow'), ask: read('ask') });
}

function readRule(
  written: SourceScalar,
  key: string,
  servers: readonly string[],
  findings: Findings,
): readonly string[] {
  const parsed = parsePermissionRule(written.text);
  if (typeof parsed === 'string') {
    const message = `${quoteShort(written.text)} in ${key} of permissions is not a valid rule: ${parsed}`;
    findings.error('bad-permission', message, written.at, FORM);
    return [];
  }
  if (key === 'allow') warnRunner(parsed, written, findings);
  // Rules that restrict calls ignore letter case.
  const rule = key === 'allow' ? parsed : { ...parsed, tool: parsed.tool.toLowerCase() };
  const translated = translate(rule);
  if (isWildcard(rule.tool)) checkArguments(rule, { written, servers }, findings);
  else checkExact(rule, translated, { written, servers }, findings);
  return translated.map(ruleText);
}

/** Warns about allowing a program that runs whatever it is given, which allows everything (`allows-everything`). */
function warnRunner(rule: PermissionRule, written: SourceScalar, findings: Findings): void {
  const command = rule.args.find(({ name }) => COMMAND_ARGUMENTS.has(name))?.pattern ?? '';
  const [program = '', ...rest] = command.split(/\s+/);
  const name = program.replace(/\*$/, '');
  // What it runs is named by the first word that is neither an option nor a number.
  const named = rest.find((word) => !/^[-\d]/.test(word)) ?? '*';
  if (!isWildcard(command) || !runsAnything(name) || named !== '*') return;
  const message = `${quoteShort(written.text)} allows every program: ${name} runs anything it is given`;
  findings.warning('allows-everything', message, written.at, 'name the script or program that may be run, without *');
}

/** Translates a rule: itself, unless only cagent has its tool, and one rule for each tool of Skein that it also covers. */
function translate(rule: PermissionRule): readonly PermissionRule[] {
  const rules: PermissionRule[] = [];
  const meant = FOREIGN_TOOLS.filter((foreign) => matchesWildcard(rule.tool, foreign.name));
  const foreignOnly =
    !isWildcard(rule.tool) && meant.some(({ name, tools }) => tools.length > 0 && !tools.includes(name));
  if (!foreignOnly) rules.push(rule);
  for (const { name, tools } of meant) {
    const args = rule.args.map((arg) => ({ ...arg, name: argumentOf(name, arg.name) }));
    for (const tool of tools) {
      // The pattern itself already covers this tool.
      if (matchesWildcard(rule.tool, tool) && args.every((arg, i) => arg.name === rule.args[i]?.name)) continue;
      rules.push({ ...rule, tool, args });
    }
  }
  if (!isWildcard(rule.tool) && rules.length > 1) return rules.filter((one) => one !== rule);
  return rules;
}

function ruleText({ tool, args }: PermissionRule): string {
  return [tool, ...args.map((arg) => `${arg.name}=${arg.pattern}`)].join(':');
}

interface Written {
  readonly written: SourceScalar;
  readonly servers: readonly string[];
}

/** Reports an argument that no matching tool has, unless a server's tool may have it. */
function checkArguments(rule: PermissionRule, { written, servers }: Written, findings: Findings): void {
  const tools = [...toolArguments()].filter(([tool]) => matchesWildcard(rule.tool, tool));
  const names = new Set(tools.flatMap(([, args]) => args));
  const wrong = rule.args.find((arg) => !names.has(arg.name));
  if (tools.length === 0 || servers.length > 0 || wrong === undefined) return;
  const hint = findings.near(wrong.name, names) ?? `their arguments are: ${[...names].join(', ')}`;
  const message = `no tool that ${quoteShort(rule.tool)} means has an argument ${quoteShort(wrong.name)}`;
  findings.error('unknown-argument', message, written.at, hint);
}

function checkExact(
  rule: PermissionRule,
  translated: readonly PermissionRule[],
  { written, servers }: Written,
  findings: Findings,
): void {
  const known = new Set(FOREIGN_TOOLS.flatMap(({ name, tools }) => [name, ...tools]));
  for (const { tool, args } of translated) {
    const names = toolArguments().get(tool);
    const wrong = names === undefined ? undefined : args.find((arg) => !names.includes(arg.name));
    if (names === undefined || wrong === undefined) continue;
    const hint = findings.near(wrong.name, names) ?? `its arguments are: ${names.join(', ')}`;
    findings.error('unknown-argument', `the tool ${tool} has no argument ${quoteShort(wrong.name)}`, written.at, hint);
  }
  if (known.has(rule.tool) || servers.length > 0) return;
  const hint = findings.near(rule.tool, known) ?? 'name a built-in tool, or mcp:SERVER:TOOL';
  const message = `no agent of this file can have the tool ${quoteShort(rule.tool)}; the rule matches nothing`;
  findings.warning('unknown-tool', message, written.at, hint);
}
