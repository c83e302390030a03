import { SkeinError } from '../../base/errors.js';
import { digestText } from '../../base/hash.js';
import { isPlainObject, present, type Json } from '../../base/json.js';
import type { Executor, Result, StepContext } from '../../engine/ports/executor.js';
import type { JsonTemplate } from '../../lang/values.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { TaskNode } from '../../plan/plan.js';
import { builtInOf } from '../../plan/tool-names.js';
import { commandOf, isFixed, type ToolUse } from '../../plan/tool-use.js';
import { failure } from '../ask-user.js';
import type { AgentDeps } from '../executor.js';
import { inputOf } from '../loop/approval.js';
import { ConversationTrust, hearFailedServers } from '../loop/conversation-trust.js';
import type { Authored } from '../loop/guard.js';
import { createStages } from '../loop/stages.js';
import type { ToolCall } from '../model.js';
import type { RunTrust } from '../run-trust.js';
import type { ScriptedSteps } from '../script/scripted-steps.js';
import { agentSession, openAround, type AgentSession, type Opened, type OpenedTool } from '../session.js';
import type { Environment } from '../tools/clean-env.js';
import { Transcript } from '../transcript.js';
import { asPrompt, givenOf } from './given.js';
import { StepCall } from './step-call.js';

/** The parts that steps with direct tool calls are built from. */
export interface ToolStepDeps extends Omit<AgentDeps, 'memory' | 'runOptions'> {
  /** The script's answers for such steps; absent if the run has models, and calls are made. */
  readonly scripted?: ScriptedSteps | undefined;
  /** The environment that `${NAME}` in variables of commands refers to. */
  readonly env: Environment;
}

/** The executor of nodes that call a tool without a model. A call passes the same stages as an agent's; a replay calls nothing. */
export function toolExecutor(deps: ToolStepDeps, run: RunTrust): Executor<TaskNode> {
  return async (node, step) => {
    const { tool: use } = node;
    if (use === undefined) throw new TypeError(`'${node.id}' has no tool`);
    const spec = specOf(node, use);
    const session = agentSession({ models: NO_MODELS, tools: deps.tools, spec, step, isAlone: true });
    try {
      return await callTool({ deps, run, node, use, spec, session, step });
    } catch (error) {
      hearFailedServers(error, spec, step.influence);
      return failure(error);
    } finally {
      const close = (): Promise<void> | undefined => session.close();
      await step.effect('close', close, { cleanup: true, losable: true, identity: identityOf(step) }).catch(close);
    }
  };
}

const NO_MODELS: AgentDeps['models'] = { resolve: () => [] };

/** The step as an agent with this tool and no model, in the form that tool provider, rules and policies accept. */
function specOf({ id }: TaskNode, use: ToolUse): AgentSpec {
  const { name, approve, permissions, sandbox, mcpServers } = use;
  return present({
    name: id,
    instructions: [],
    models: [],
    tools: [name],
    approve: approve === true ? [name] : undefined,
    permissions,
    sandbox,
    mcpServers,
  });
}

interface ToolStepRun {
  readonly deps: ToolStepDeps;
  readonly run: RunTrust;
  readonly node: TaskNode;
  readonly use: ToolUse;
  readonly spec: AgentSpec;
  readonly session: AgentSession;
  readonly step: StepContext;
}

async function callTool(parts: ToolStepRun): Promise<Result> {
  const { deps, run, node, use, spec, session, step } = parts;
  const given = givenOf(use, step);
  const opened = await step.effect('open', (io) => openAround({ ...deps, session, spec, step }, io), {
    effect: 'read',
    losable: true,
    identity: identityOf(step),
  });
  if (opened.planted === true) run.here.foundPlanted();
  const tool = toolIn(opened, use, spec);
  const call: ToolCall = { id: node.id, name: tool.name, input: JSON.stringify(given.input) };
  const { path, influence } = step;
  const trust = new ConversationTrust({ path, influence, spec, opened, run, own: new Set(), shares: false });
  const transcript = new Transcript();
  transcript.begin('', undefined, asPrompt(given));
  const stages = createStages({
    models: deps,
    security: deps.security?.(step.path),
    guards: deps.guards ?? [],
    step,
    agent: spec.name,
    task: `call ${use.name}`,
    rules: run.rules,
  });
  const made = new StepCall({
    step,
    spec,
    who: `the step "${node.id}"`,
    opened,
    stepTools: [],
    transcript,
    use: (effect) => session.use(effect, opened),
    replayed: () => undefined,
    run,
    trust,
    stages,
    granted: { who: `the step "${node.id}"`, isFixed: isFixed(use) },
    authored: run.rules.project === 'untrusted' ? undefined : authored(use, call),
    tool: effectiveTool(tool, node),
    wanted: { use, given },
    scripted: deps.scripted,
    env: deps.env,
  });
  return { type: 'done', output: await made.result(call) };
}

/** The author's `effect`, if set, decides what an interruption by a crash means. */
function effectiveTool(tool: OpenedTool, { effect }: TaskNode): OpenedTool {
  return effect === undefined ? tool : { ...tool, effect };
}

/** @throws SkeinError `SKEIN_TOOL_FAILED` if the server does not have the tool */
function toolIn({ tools }: Opened, { name }: ToolUse, spec: AgentSpec): OpenedTool {
  const found =
    builtInOf(name) === undefined
      ? tools.find(({ origin }) => origin !== undefined && `${origin.server}/${origin.tool}` === name)
      : tools.find((tool) => tool.name === name && tool.origin === undefined);
  if (found !== undefined) return found;
  const hint = 'check the name of the tool, and the list tools of the server';
  throw new SkeinError('SKEIN_TOOL_FAILED', `there is no tool ${name} for the step "${spec.name}"`, {
    hint,
    retryable: false,
  });
}

function identityOf(step: StepContext): { readonly digest: () => string } {
  return { digest: () => digestText(step.definition()) };
}

/**
 * What a step declares by its presence in a file that the user trusts: this call, with its author's arguments fixed, and those free into
 * which a value is inserted. So others may influence whether the call is made, and the inserted values.
 */
function authored(use: ToolUse, call: ToolCall): Authored {
  const { name, input } = use;
  const command = commandOf(use);
  const given = inputOf(call) ?? {};
  if (command !== undefined) {
    const areFixed = command.every((word) => 'value' in word);
    const argv = Array.isArray(given['argv']) ? given['argv'].map(String) : [];
    return { isFixed: areFixed, fixed: new Set(areFixed ? ['argv'] : []), declared: { commands: [argv] } };
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
