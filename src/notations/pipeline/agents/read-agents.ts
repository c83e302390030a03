import { quoteShort } from '../../../lang/value-text.js';
import type { AgentSpec, StructuredOutput } from '../../../plan/agent-spec.js';
import type { Values } from '../../../text/forms.js';
import type { Findings } from '../../../text/findings.js';
import { describe, toJson, type SourceEntry, type SourceScalar } from '../../../text/nodes.js';
import { isPlainObject, present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import type { AgentDef, PipelineDef } from '../definition.js';
import { readCache, SANDBOX } from '../../model-call-keys.js';
import { readChecks } from '../../checks-key.js';
import { findModels, type ModelTable } from './agent-models.js';
import { AGENT, AGENT_NAME, FALLBACK, STRUCTURED_OUTPUT } from './keys.js';
import { readMcps, type McpDef } from './read-mcps.js';
import { readModels } from './read-models.js';
import { readPermissions } from './read-permissions.js';
import { readProviders } from './read-providers.js';
import { readToolsets } from './read-toolsets.js';
import { readSupported } from '../../../text/unsupported.js';
import { checkSchema, checkUsable } from '../../check-schema.js';

/** Reads the agents and models of a file. Each unsupported key is one finding (`not-supported`), with its line. */
export function readAgents(root: Fields): Pick<PipelineDef, 'agents' | 'models' | 'servers' | 'permissions'> {
  const providers = readProviders(root);
  const models = { providers, models: readModels(root, providers) };
  const sections = { models, mcps: readMcps(root) };
  const agents = (root.entries('agents') ?? []).map((entry) => readAgent(entry, sections, root.findings));
  const own = [...sections.mcps].flatMap(([name, { server, tools }]) =>
    server === undefined ? [] : [[name, present({ ...server, tools: tools ?? server.tools })] as const],
  );
  const servers = [...own.map(([name]) => name), ...agents.flatMap(({ spec }) => Object.keys(spec.mcpServers ?? {}))];
  const permissions = readPermissions(root, servers);
  return {
    agents: new Map(agents.map((agent) => [agent.spec.name, { ...agent, spec: { ...agent.spec, permissions } }])),
    models,
    servers: Object.fromEntries(own),
    permissions,
  };
}

interface Sections {
  readonly models: ModelTable;
  readonly mcps: ReadonlyMap<string, McpDef>;
}

function readAgent(entry: SourceEntry, { models, mcps }: Sections, findings: Findings): AgentDef {
  const name = entry.key;
  const label = `agent ${quoteShort(name)}`;
  if (!AGENT_NAME.test(name)) {
    const hint = 'use letters, digits, _, - and ., at most 64';
    findings.error('bad-name', `${quoteShort(name)} is not a valid agent name`, entry.at, hint);
  }
  const fields = readSupported(entry.value, label, AGENT, findings);
  if (fields === undefined) {
    const spec = { name, models: [], tools: [], permissions: {}, allowEmpty: true };
    return { spec, instruction: undefined, at: entry.at };
  }
  const chosen = findModels(modelNames(fields), models, label, findings);
  const { tools, servers, memory, interactive, searchesAll } = readToolsets(fields, mcps);
  const keys = fields.values(AGENT);
  const spec: Omit<AgentSpec, 'instructions'> = present({
    name,
    description: fields.text('description'),
    ...chosen,
    tools: [...tools],
    permissions: {},
    mcpServers: servers.size === 0 ? undefined : Object.fromEntries(servers),
    maxTurns: keys.max_iterations === 0 ? undefined : keys.max_iterations,
    output: readOutput(fields),
    checks: readChecks(fields, label),
    cache: cacheOf(fields),
    sandbox: fields.word('sandbox', SANDBOX),
    interactive: interactive ? true : undefined,
    memory: memory ? { inject: false } : undefined,
    searchesAll: searchesAll ? true : undefined,
    allowEmpty: true,
    about: readAbout(keys),
  });
  return { spec, instruction: fields.scalar('instruction'), at: entry.at };
}

/** Reads the key `cache`. A map is cagent's cache of answers, which is not supported. */
function cacheOf(fields: Fields): AgentSpec['cache'] {
  const node = fields.node('cache');
  if (node?.kind !== 'map') return readCache(fields);
  const message = `cache of ${fields.name} is not supported`;
  if (node.entries.length > 0) fields.warning('not-supported', 'cache', message, 'remove the key');
  return undefined;
}

function modelNames(fields: Fields): readonly SourceScalar[] {
  const model = fields.scalar('model');
  const node = fields.node('fallback');
  const name = `fallback of ${fields.name}`;
  const fallback = node === undefined ? undefined : readSupported(node, name, FALLBACK, fields.findings);
  return [...(model === undefined ? [] : [model]), ...(fallback?.texts('models') ?? [])];
}

function readAbout(keys: Values<typeof AGENT.keys>): AgentSpec['about'] {
  const about: ('date' | 'environment')[] = [];
  if (keys.add_date === true) about.push('date');
  if (keys.add_environment_info === true) about.push('environment');
  return about.length === 0 ? undefined : about;
}

/** Reads `structured_output` of an agent. `strict` has no effect, because answers are always checked. Code: `bad-schema`. */
export function readOutput(agent: Fields): StructuredOutput | undefined {
  const fields = agent.fields('structured_output', STRUCTURED_OUTPUT);
  if (fields === undefined) return undefined;
  const name = fields.text('name');
  const description = fields.text('description');
  fields.flag('strict');
  const node = fields.node('schema');
  if (node === undefined) {
    const hint = 'add schema: { type: object, ... }';
    agent.findings.error('bad-schema', 'structured_output needs a schema', fields.at, hint);
    return undefined;
  }
  if (node.kind !== 'map') {
    const message = `schema of structured_output must be a map, not ${describe(node)}`;
    const hint = 'write a JSON Schema, such as { type: object, properties: { ... } }';
    fields.error('wrong-type', 'schema', message, hint);
    return undefined;
  }
  checkSchema(node, agent.findings);
  const schema = toJson(node);
  checkUsable(schema, node, agent.findings);
  const described = description !== undefined && isPlainObject(schema) && !Object.hasOwn(schema, 'description');
  return present({ name, schema: described ? { ...schema, description } : schema });
}
