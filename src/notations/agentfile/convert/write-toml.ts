import { madeOnce } from '../../../base/collections.js';
import { isPlainObject } from '../../../base/json.js';
import type { McpServerSpec, ModelSettings } from '../../../plan/agent-spec.js';
import { DECLARED, type Declarations } from '../../../plan/declarations.js';
import { READ_ONLY_TOOLS } from '../../../plan/built-in-tools.js';
import type { TreeOverride } from '../../tree/definition.js';
import { nameInFiles } from '../tools.js';

/** Profiles that agents need, each with a name. */
export class Profiles {
  private readonly names = new Map<string, string>();

  nameOf(model: string | undefined, settings: ModelSettings): string {
    const key = JSON.stringify([model, settings.maxOutputTokens, settings.temperature]);
    const base = (model ?? 'settings').replace(/^.*\//, '').replaceAll(/[^A-Za-z0-9_-]/g, '-');
    return madeOnce(this.names, key, () => {
      let name = base;
      for (let count = 2; [...this.names.values()].includes(name); count += 1) name = `${base}-${count}`;
      return name;
    });
  }

  tables(): readonly string[] {
    return [...this.names].map(([key, name]) => {
      const [model, maxOutputTokens, temperature] = JSON.parse(key) as [string | null, number | null, number | null];
      return modelTable(`profiles.${keyText(name)}`, model ?? undefined, maxOutputTokens, temperature);
    });
  }
}

/** Writes `agent.toml` with the defaults of all steps and the profiles. Empty if nothing needs one. */
export function agentToml(
  { model, settings = {}, cache, sandbox, tools = [], mcpServers = {} }: TreeOverride,
  profiles: Profiles,
  declared: Declarations,
): string {
  const further = tools.filter((tool) => !(READ_ONLY_TOOLS as readonly string[]).includes(tool)).map(nameInFiles);
  const served = Object.entries(mcpServers).flatMap(([name, { tools: some }]) =>
    some === undefined ? [`${name}/*`] : some.map((tool) => `${name}/${tool}`),
  );
  const all = [...further, ...served];
  const { maxOutputTokens = null, temperature = null } = settings;
  const hasModel = model !== undefined || maxOutputTokens !== null || temperature !== null;
  const tables = [
    ...(cache === undefined ? [] : [`cache = ${JSON.stringify(cache)}\n`]),
    ...(sandbox === undefined ? [] : [`sandbox = ${JSON.stringify(sandbox)}\n`]),
    ...DECLARED.flatMap((key) => (declared[key] === undefined ? [] : [`${key} = ${tomlValue(declared[key])}\n`])),
    ...(all.length === 0 ? [] : [`tools = [${all.map((name) => JSON.stringify(name)).join(', ')}]\n`]),
    ...(hasModel ? [modelTable('llm', model, maxOutputTokens, temperature)] : []),
    ...profiles.tables(),
    ...Object.entries(mcpServers).map(([name, spec]) => serverTable(name, spec)),
  ];
  return tables.join('\n');
}

/** Writes `policy.toml` for a tree that lacks some read-only tools. Empty if it has all of them. */
export function policyToml(tools: readonly string[]): string {
  if (READ_ONLY_TOOLS.every((tool) => tools.includes(tool))) return '';
  const tables = tools.map((tool) => `\n[tools.${keyText(nameInFiles(tool))}]\nenabled = true\n`);
  return `default_deny = true\n${tables.join('')}`;
}

function modelTable(
  name: string,
  model: string | undefined,
  maxOutputTokens: number | null,
  temperature: number | null,
): string {
  const lines = [
    `[${name}]`,
    ...(model === undefined ? [] : [`model = ${JSON.stringify(model)}`]),
    ...(maxOutputTokens === null ? [] : [`max_tokens = ${maxOutputTokens}`]),
    ...(temperature === null ? [] : [`temperature = ${temperature}`]),
  ];
  return `${lines.join('\n')}\n`;
}

function serverTable(name: string, { command, args, env, url, sandbox }: McpServerSpec): string {
  const lines = [
    `[mcp.servers.${keyText(name)}]`,
    ...(command === undefined ? [] : [`command = ${JSON.stringify(command)}`]),
    ...(args === undefined ? [] : [`args = ${JSON.stringify(args)}`]),
    ...(url === undefined ? [] : [`endpoint = ${JSON.stringify(url)}`]),
    ...(sandbox === undefined ? [] : [`sandbox = ${JSON.stringify(sandbox)}`]),
    ...(env === undefined
      ? []
      : [
          `env = { ${Object.entries(env)
            .map(([key, value]) => `${keyText(key)} = ${JSON.stringify(value)}`)
            .join(', ')} }`,
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether a value can be written. TOML has no null. */
export function fitsToml(value: unknown): boolean {
  if (typeof value !== 'object') return true;
  return value !== null && Object.values(value).every(fitsToml);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{ ${entries.map(([key, one]) => `${keyText(key)} = ${tomlValue(one)}`).join(', ')} }`;
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
