import { present } from '../../base/json.js';
import type { AgentSpec, McpServerSpec, ModelChanges, ModelSettings, SkillText } from '../../plan/agent-spec.js';
import { maxTurnsOf } from '../../plan/limits.js';
import type { Template, TemplateRef } from '../../lang/values.js';
import { namesOf, variableKey } from './pack-names.js';
import type { ModelOverride, Pack, Parameters, Prompt } from './pack.js';
import { packTools, type PackTools } from './pack-tools.js';
import { promptChecks } from './prompt-checks.js';
import { parsePlaceholders } from './placeholders.js';
import { append } from '../written-references.js';

/** What the program around a pack supplies to a prompt. */
export interface PromptExtras extends PackTools {
  /** Tool servers. All their tools are offered, except those the prompt's policy forbids. */
  readonly mcpServers?: Readonly<Record<string, McpServerSpec>>;
  /** Texts of skills that are active from the start. */
  readonly skills?: readonly SkillText[];
}

/** Builds the agent of a prompt. It reads the channels `variables`, `artifacts` and `workflow_context`. The pack must be right. */
export function promptAgent(pack: Pack, name: string, extras: PromptExtras = {}): AgentSpec {
  const prompt = pack.prompts[name];
  if (prompt === undefined) throw new TypeError(`no prompt ${name}`);
  const { tool_policy: policy = {}, model_overrides: overrides = {}, parameters = {} } = prompt;
  const { mcpServers = {}, skills } = extras;
  const servers = Object.keys(mcpServers);
  const templates = new Templates(pack, name, prompt);
  const choice = policy.tool_choice;
  const settingsFor = (more: Parameters = {}): ModelSettings =>
    present({ ...settingsOf({ ...parameters, ...more }), toolChoice: choice });
  const changes = Object.entries(overrides).map(([model, override]): [string, ModelChanges] => [
    model,
    { instructions: templates.overridden(override), settings: settingsFor(override.parameters) },
  ]);
  const rounds = policy.max_rounds;
  const checks = promptChecks(prompt, extras.validators);
  const { functions } = packTools(pack, prompt, extras);
  return present({
    name,
    description: prompt.description,
    instructions: templates.own(),
    models: [],
    // All tools of each server, and the prompt's own tools by name: a named tool is trusted if it declares itself read-only.
    tools: servers.flatMap((server) => [`${server}/*`, ...(prompt.tools ?? []).map((tool) => `${server}/${tool}`)]),
    functions,
    mcpServers: servers.length === 0 ? undefined : mcpServers,
    approve: approvalsOf(extras, servers, new Set(functions.map((tool) => tool.name))),
    permissions: servers.length === 0 ? undefined : permissionsOf(policy.blocklist ?? []),
    skills,
    // The rounds of calls, plus the answer.
    maxTurns: rounds === undefined ? maxTurnsOf({}) : rounds + 1,
    maxToolCalls: policy.max_tool_calls_per_turn,
    settings: settingsFor(),
    cache: cacheOf(pack),
    checks: checks.length === 0 ? undefined : checks,
    forModels: changes.length === 0 ? undefined : Object.fromEntries(changes),
  });
}

/** Returns the server tools that a person must allow. Their inputs are unknown until the server starts, so every call needs approval. */
function approvalsOf({ approve = {} }: PackTools, servers: readonly string[], functions: ReadonlySet<string>) {
  const names = Object.keys(approve).filter((name) => approve[name] !== false && !functions.has(name));
  if (servers.length === 0 || names.length === 0) return undefined;
  return names.flatMap((name) => (name.startsWith('mcp_') ? [name] : servers.map((server) => `${server}/${name}`)));
}

/** Returns the permissions. The names of server tools are prefixed with the server's name. */
function permissionsOf(blocked: readonly string[]): AgentSpec['permissions'] {
  if (blocked.length === 0) return undefined;
  return { deny: blocked.flatMap((tool) => [tool, `mcp_*_${tool}`]), allow: ['*'] };
}

function settingsOf(parameters: Parameters): ModelSettings {
  return present({
    temperature: parameters.temperature,
    maxOutputTokens: parameters.max_tokens,
    topP: parameters.top_p,
    topK: parameters.top_k ?? undefined,
    frequencyPenalty: parameters.frequency_penalty,
    presencePenalty: parameters.presence_penalty,
  });
}

function cacheOf({ workflow }: Pack): AgentSpec['cache'] {
  const word = workflow?.engine?.skein?.cache?.toLowerCase();
  return word === 'off' || word === '1h' ? word : undefined;
}

class Templates {
  private readonly variables: ReadonlySet<string>;

  constructor(
    private readonly pack: Pack,
    private readonly name: string,
    private readonly prompt: Prompt,
  ) {
    this.variables = new Set((prompt.variables ?? []).map((variable) => variable.name));
  }

  own(): Template {
    return this.template(this.prompt.system_template);
  }

  overridden(override: ModelOverride): Template {
    const { system_template_prefix = '', system_template = this.prompt.system_template } = override;
    return this.template(`${system_template_prefix}${system_template}${override.system_template_suffix ?? ''}`);
  }

  private template(text: string): Template {
    const pieces: (string | TemplateRef)[] = [];
    for (const piece of this.expanded(text)) append(pieces, piece);
    return pieces;
  }

  /** Expands fragments. They are the author's templates, so placeholders inside them count. */
  private *expanded(text: string): Generator<string | TemplateRef> {
    const { fragments } = namesOf(this.pack);
    for (const piece of parsePlaceholders(text, fragments, this.variables)) {
      if (typeof piece === 'string') yield piece;
      else if (piece.kind === 'fragment') yield* this.expanded(fragments.get(piece.name) ?? '');
      else if (piece.kind === 'artifact') yield { channel: 'artifacts', path: [piece.name], written: piece.written };
      else if (piece.kind === 'context') yield { channel: 'workflow_context' };
      else {
        const path = [variableKey(this.pack, this.name, piece.name), ...piece.path];
        yield { channel: 'variables', path, written: piece.written };
      }
    }
  }
}
