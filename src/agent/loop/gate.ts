import type { Question } from '../../engine/ports/durable.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { ToolCall } from '../model.js';
import { permissionCheck, type Verdict, type WantedCall } from '../permissions/permissions.js';
import { readsEnvFile } from '../permissions/argument-values.js';
import type { OpenedTool } from '../session.js';
import type { Tool } from '../tool.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { Answer } from './answer.js';
import { approvalQuestion, inputOf, isAllowed } from './approval.js';

/** The checks of a call that a person must allow. */
export interface Asking {
  /** What is wrong with the call; a call that cannot be made is not put to a person. */
  fault(): Promise<Answer | undefined>;
  /** Whether the tool requires a person to allow this call. */
  decide(): Promise<boolean>;
  ask(question: Question): Promise<string>;
}

/** Decides which tool calls of a model may run in a step. */
export interface Gate {
  /** Returns the error for the model; undefined for calls that may run. `isAllowed`: a person has allowed exactly this call. */
  refusal(call: ToolCall, asking: Asking, isAllowed: boolean): Promise<Answer | undefined>;
  /** The rule that forbids the call, if one does; a person is not asked about such a call. */
  forbids(call: ToolCall): string | undefined;
  isFree(call: ToolCall): boolean;
  /** False for a tool that appeared after the step began, so that neither a person nor a rule judged it. */
  isForeseen(call: ToolCall, tool: Tool): boolean;
}

export interface Known {
  readonly recorded: ReadonlyMap<string, OpenedTool>;
  readonly stepTools: ReadonlyMap<string, unknown>;
  /** The working directory when the step began, used by rules about paths. */
  readonly cwd: string | undefined;
  /** Set if the workflow itself makes the calls: calls that no rule covers are allowed. */
  readonly granted?: Granted | undefined;
}

/** A call that the author of a workflow wrote. */
export interface Granted {
  readonly who: string;
  /** Whether the call contains no value from the run. */
  readonly isFixed: boolean;
}

export function agentCalled({ name }: AgentSpec): string {
  return `the agent "${name}"`;
}

/** The answer to a model about a call that a person refused. */
export const REFUSED: Answer = { output: 'Error: a person refused this call', isError: true, own: true };

/**
 * Creates the gate of a step. First the rules of the agent decide, then a person if `approve` or the rules require it. Decisions depend
 * only on records and on answers.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for rules that cannot be used
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
    isFree(call) {
      const verdict = check(call, recorded.get(call.name))?.kind;
      return verdict !== 'deny' && verdict !== 'ask' && gated(call.name) === false;
    },
    isForeseen(call, tool) {
      if (tool.approve !== undefined && gated(call.name) === false) return false;
      const verdict = recorded.has(call.name) ? undefined : check(call, tool)?.kind;
      return verdict !== 'ask' && verdict !== 'deny';
    },
  };
}

/** Whether a tool of a server or of the program has the name of a built-in one. */
function isForeign({ origin, code }: OpenedTool): boolean {
  return origin !== undefined || code !== undefined;
}

/** A rule that allows a whole tool does not cover secrets. */
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

/** Names the rule, so that the model does not try another spelling. */
function forbidden({ rule, why }: Extract<Verdict, { kind: 'deny' }>): Answer {
  const quoted = JSON.stringify(rule);
  const what =
    why === 'opaque'
      ? `what it runs can't be checked against the rule ${quoted}; run one plain program for each call`
      : `the rule ${quoted} of this workflow forbids it. Do not try to reach the same in another way`;
  return { output: `Error: this call was refused: ${what}.`, isError: true, own: true };
}
