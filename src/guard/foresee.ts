import { present } from '../base/json.js';
import type { Position, Problem } from '../base/problem.js';
import type { AgentSpec, FunctionTool } from '../plan/agent-spec.js';
import { BUILT_IN, type BuiltInTool } from '../plan/built-in-tools.js';
import type { Declarations } from '../plan/declarations.js';
import { heardIn, type Heard } from '../plan/heard.js';
import { agentsOf, nodesById, nodesOf } from '../plan/nodes.js';
import type { Plan } from '../plan/plan.js';
import type { Security } from '../plan/security.js';
import { securityAt } from '../plan/security-at.js';
import { selectTools } from '../plan/tool-names.js';
import type { ToolUse } from '../plan/tool-use.js';
import { effectOf, type CallEffect } from './effects.js';

/** Calls that may need a person's decision, because others may influence them. */
export interface ForeseenCalls {
  readonly step: string;
  /** The agent that may make them; absent if the step makes one call directly. */
  readonly agent?: string;
  /** The tool's name in declarations: `shell`, `github/create_comment`, `github/*`. */
  readonly tool: string;
  readonly effect: CallEffect;
  /** Which of the tool's calls. */
  readonly which: string;
  /** The declaration that makes questions about such calls unnecessary; absent if there is none. */
  readonly declare?: string;
  /** Whether some calls of the tool are declared. */
  readonly declared: boolean;
  readonly at?: Position;
}

/** Returns the calls about which the guard may ask a person, by step: of tools that do more than read, after reads that may lead them. */
export function foreseenCalls(plan: Plan): readonly ForeseenCalls[] {
  const heard = heardIn(plan);
  return [...nodesOf(plan)].flatMap(({ path, node }) => {
    const at = heard.get(path);
    const place = { step: path, ...present({ at: node.at }) };
    if (at === undefined) return [];
    if (node.kind === 'agent') {
      const { agent } = node;
      return callsOf(agent, at.does, plan).map((one) => ({ ...place, agent: agent.name, ...one }));
    }
    if (node.kind !== 'task') return [];
    const { tool, callsTool: name, effect = 'once' } = node;
    const own = name === undefined ? [] : callsOf({ tools: [], functions: [{ name, effect }] }, at.before, plan);
    const calls = tool === undefined ? own : callOf(tool, at.before, plan);
    return calls.map((one) => ({ ...place, ...one }));
  });
}

/** A caller of tools: an agent, or a step that makes one call. */
interface Caller extends Pick<AgentSpec, 'tools' | 'mcpServers' | 'sandbox'> {
  readonly functions?: readonly Pick<FunctionTool, 'name' | 'effect' | 'calls'>[];
}

type Call = Omit<ForeseenCalls, 'step' | 'agent' | 'at'>;

/**
 * The call of a step. What was there before the step decides about it, and its file counts as a declaration. That covers all of a call
 * without inserted values; the command; the target of a send, and the arguments into which values are inserted.
 */
function callOf(use: ToolUse, before: Heard, declared: Declarations): readonly Call[] {
  if ('value' in use.input) return [];
  return callsOf({ ...use, tools: [use.name] }, before, declared).flatMap((one): readonly Call[] => {
    if (one.effect === 'send') return [];
    if (one.effect !== 'run') return [one];
    const isLoose = before.level === 'untrusted' && use.sandbox !== 'offline';
    return isLoose ? [{ ...one, which: 'outside of a sandbox', declare: 'sandbox: offline', declared: false }] : [];
  });
}

function callsOf(agent: Caller, heard: Heard, declared: Declarations): readonly Call[] {
  if (heard.level === 'trusted') return [];
  const { tools, mcpServers = {}, functions = [] } = agent;
  const { builtIn, servers } = selectTools(tools, Object.keys(mcpServers));
  const calls = [...new Set(builtIn.values())].flatMap((tool) => ofBuiltIn(tool, agent, { heard, declared }));
  for (const [server, some] of servers) {
    const names = some === 'all' ? ['*'] : [...some.raw, ...some.full];
    for (const name of names) calls.push(send(`${server}/${name}`, 'that do more than read', declared));
  }
  for (const { name, effect, calls: inner } of functions)
    if (inner === undefined && effectOf({ effect }, {}) === 'send') calls.push(send(name, 'all', declared));
  return calls;
}

function ofBuiltIn(
  tool: BuiltInTool,
  { sandbox }: Caller,
  { heard, declared }: { readonly heard: Heard; readonly declared: Declarations },
): readonly Call[] {
  const { hosts = [], commands = [] } = declared;
  const effect = effectOf({ builtIn: tool, effect: BUILT_IN[tool].effect }, {});
  switch (effect) {
    case 'get': {
      const which = heard.isPrivate ? 'to hosts that are not declared' : 'other than GET';
      return [{ tool, effect, which, declare: 'hosts: [HOST]', declared: !heard.isPrivate || hosts.length > 0 }];
    }
    case 'run': {
      const isLoose = heard.level === 'untrusted' && sandbox !== 'offline';
      const which = isLoose && commands.length > 0 ? 'outside of a sandbox' : 'that are not declared';
      const declare = `commands: [[PROGRAM, ARGUMENT]]${isLoose ? ', with sandbox: offline' : ''}`;
      return [{ tool, effect, which, declare, declared: commands.length > 0 && !isLoose }];
    }
    case 'write':
      if (heard.level !== 'untrusted') return [];
      return [{ tool, effect, which: 'that change files or make others than texts', declared: false }];
    case 'read':
    case 'send':
      return [];
  }
}

function send(tool: string, which: string, { sends = [] }: Declarations): Call {
  const declared = sends.some((one) => one.tool === tool);
  const declare = `sends: [{ tool: ${tool}, fixed: { NAME: VALUE }, free: [NAME] }]`;
  return { tool, effect: 'send', which: declared ? 'that are not declared' : which, declare, declared };
}

export interface AskingStep {
  readonly step: string;
  readonly what: 'asks' | 'is endorsed' | 'is supervised';
}

export interface ForeseenQuestions {
  /** Steps that ask a person each time they run, or that a person judges. */
  readonly steps: readonly AskingStep[];
  /** Calls that need a person's decision because others may influence them. */
  readonly calls: readonly ForeseenCalls[];
  /** Number of questions; absent if it depends on models, or on how often a step runs. */
  readonly count?: number;
}

/** Returns what a run of a plan will ask a person, before it runs. */
export function foreseenQuestions(plan: Plan): ForeseenQuestions {
  const heard = heardIn(plan);
  const steps = [...nodesOf(plan)].flatMap(({ path: step, node }): readonly AskingStep[] => [
    ...(node.kind === 'ask' ? [{ step, what: 'asks' as const }] : []),
    ...(node.endorse === 'person' && heard.get(step)?.does.level === 'untrusted'
      ? [{ step, what: 'is endorsed' as const }]
      : []),
    ...(node.supervise?.by === 'human' ? [{ step, what: 'is supervised' as const }] : []),
  ]);
  const calls = foreseenCalls(plan);
  const approved = [...agentsOf(plan)].some(({ node: { agent } }) => mayAsk(agent));
  const isCertain = calls.length === 0 && !approved && steps.every((one) => runsOnce(plan, one));
  return { steps, calls, ...(isCertain ? { count: steps.length } : {}) };
}

/** Whether the agent's own definition may cause a question. */
function mayAsk({ approve = [], permissions, interactive, functions = [] }: AgentSpec): boolean {
  const asks = approve.length > 0 || (permissions?.ask ?? []).length > 0 || interactive === true;
  return asks || functions.some((one) => one.approve !== undefined);
}

/** Whether the step certainly runs once: no condition, no way around it, no repetition. */
function runsOnce(plan: Plan, { step, what }: AskingStep): boolean {
  if (what === 'is supervised' || step.includes('/')) return false;
  const node = nodesById(plan).get(step);
  return plan.routes.length === 0 && node?.when === undefined && node?.retry === undefined;
}

/**
 * The rule of two: an agent or a step that reads untrusted content, sees private data and acts outside must declare which of these acts are
 * intended. Otherwise a warning (`rule-of-two`), or an error under `paranoid`. `around`: the security settings of the whole run.
 */
export function ruleOfTwo(plan: Plan, around?: Security): readonly Problem[] {
  const heard = heardIn(plan);
  const security = securityAt(plan, around);
  const all = foreseenCalls(plan);
  return [...new Set(all.map(({ step }) => step))].flatMap((step): readonly Problem[] => {
    const loose = all.filter((one) => one.step === step && one.effect !== 'write' && !one.declared);
    const [first] = loose;
    const at = heard.get(step);
    if (first === undefined || at === undefined || !at.does.isPrivate) return [];
    if (at[first.agent === undefined ? 'before' : 'does'].level !== 'untrusted') return [];
    const who = first.agent === undefined ? `step "${step}"` : `agent "${first.agent}"`;
    const listed = loose.map(({ tool, which }) => `${tool} (${which})`).join(', ');
    const message = `the ${who} reads untrusted text, sees private data, and acts outside: a person is asked about calls of ${listed}`;
    const hint = `declare those that you want: ${[...new Set(loose.flatMap(({ declare }) => declare ?? []))].join('; ')}`;
    const severity = security(step)?.mode === 'paranoid' ? 'error' : 'warning';
    return [{ code: 'rule-of-two', severity, message, hint, ...present({ at: first.at }) }];
  });
}
