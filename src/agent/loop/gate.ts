import type { Question } from '../../engine/ports/durable.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { ToolCall } from '../model.js';
import type { Verdict, WantedCall } from '../permissions/permissions.js';
import { readsEnvFile } from '../permissions/argument-values.js';
import { permissionCheck } from '../permissions/permissions.js';
import type { OpenedTool } from '../session.js';
import type { Tool } from '../tool.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { Answer } from './answer.js';
import { approvalQuestion, inputOf, isAllowed } from './approval.js';

/** What is asked of a call that a person must allow. */
export interface Asking {
  /** What is wrong with the call by itself; nobody is asked about a call that can't be made. */
  fault(): Promise<Answer | undefined>;
  /** Whether the tool says that a person must allow this call. */
  decide(): Promise<boolean>;
  /** Asks a person, under a name of its own. */
  ask(question: Question): Promise<string>;
}

/** What stands between a model and the tools of a step. */
export interface Gate {
  /** What the model gets instead of a result; undefined for calls that may happen. `isAllowed`: a person has allowed this very call. */
  refusal(call: ToolCall, asking: Asking, isAllowed: boolean): Promise<Answer | undefined>;
  /** The rule that forbids the call, if one does: nobody is asked about it. */
  forbids(call: ToolCall): string | undefined;
  /** False for a tool that came up after the step began, so that neither a person nor the rules were asked about it as it is. */
  isForeseen(call: ToolCall, tool: Tool): boolean;
}

/** What a gate goes by in addition to the agent. */
export interface Known {
  /** As they are recorded. */
  readonly recorded: ReadonlyMap<string, OpenedTool>;
  readonly stepTools: ReadonlyMap<string, unknown>;
  /** The working directory when the step began, for rules about paths. */
  readonly cwd: string | undefined;
  /** The workflow itself makes the calls: what no rule speaks of is allowed. */
  readonly granted?: Granted | undefined;
}

/** A call that the author of a workflow wrote. */
export interface Granted {
  /** What questions call it. */
  readonly who: string;
  /** Nothing is put into it when it is made. */
  readonly isFixed: boolean;
}

/** What questions call an agent. */
export function agentCalled({ name }: AgentSpec): string {
  return `the agent "${name}"`;
}

/** What a model sees of a call that a person did not allow. */
export const REFUSED: Answer = { output: 'Error: a person refused this call', isError: true, own: true };

/**
 * Makes the gate of a step. First the rules of the agent decide, then a person where `approve` or the rules say so. What it decides depends on
 * what is recorded and on answers alone.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for rules that can't be used
 */
export function createGate(spec: AgentSpec, { recorded, stepTools, cwd, granted }: Known): Gate {
  const approve = (spec.approve ?? []).map((name) => name.trim());
  const all = approve.includes('*');
  const gated = (name: string): boolean | 'code' =>
    approve.includes(name) || (all && !stepTools.has(name)) || (recorded.get(name)?.approve ?? false);
  const check = checkOf(spec, { cwd, isGranted: granted !== undefined });
  const who = granted?.who ?? agentCalled(spec);
  const showsSecrets = (call: ToolCall): boolean => {
    if (granted?.isFixed === true) return false;
    const tool = recorded.get(call.name);
    const builtIn = tool === undefined || isForeign(tool) ? undefined : builtInOf(call.name);
    const input = builtIn === undefined ? undefined : inputOf(call);
    return builtIn !== undefined && input !== undefined && readsEnvFile(builtIn, input);
  };
  return {
    forbids(call) {
      const verdict = check(call, recorded.get(call.name));
      return verdict?.kind === 'deny' ? verdict.rule : undefined;
    },
    async refusal(call, asking, isSettled) {
      const verdict = check(call, recorded.get(call.name));
      if (verdict?.kind === 'deny') return forbidden(verdict);
      if (isSettled) return undefined;
      const byTool = gated(call.name);
      const mustAsk = byTool === true || verdict?.kind === 'ask' || (showsSecrets(call) && !isMeant(verdict));
      const question = mustAsk || byTool === 'code' ? approvalQuestion(who, call) : undefined;
      if (question === undefined) return undefined;
      const fault = await asking.fault();
      if (fault !== undefined) return fault;
      if (!mustAsk && !(await asking.decide())) return undefined;
      return isAllowed(await asking.ask(question)) ? undefined : REFUSED;
    },
    isForeseen(call, tool) {
      if (tool.approve !== undefined && gated(call.name) === false) return false;
      const verdict = recorded.has(call.name) ? undefined : check(call, tool)?.kind;
      return verdict !== 'ask' && verdict !== 'deny';
    },
  };
}

/** A tool of a server or of the program that is called like a built-in one. */
function isForeign({ origin, code }: OpenedTool): boolean {
  return origin !== undefined || code !== undefined;
}

/** A rule that allows a tool as a whole does not speak of secrets. */
function isMeant(verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'allow' && /\.env/i.test(verdict.rule);
}

function checkOf(
  { name: agent, permissions }: AgentSpec,
  { cwd = '/', isGranted }: { readonly cwd: string | undefined; readonly isGranted: boolean },
) {
  if (permissions === undefined) return () => undefined;
  const check = permissionCheck(permissions, { agent, cwd, isGranted });
  return (call: ToolCall, tool: WantedCall['tool']) => check({ name: call.name, input: inputOf(call), tool });
}

/** Said so that a model does not try another spelling. */
function forbidden({ rule, why }: Extract<Verdict, { kind: 'deny' }>): Answer {
  const quoted = JSON.stringify(rule);
  const what =
    why === 'opaque'
      ? `what it runs can't be checked against the rule ${quoted}; run one plain program for each call`
      : `the rule ${quoted} of this workflow forbids it. Do not try to reach the same in another way`;
  return { output: `Error: this call was refused: ${what}.`, isError: true, own: true };
}
