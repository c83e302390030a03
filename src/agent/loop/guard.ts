import type { Question } from '../../engine/ports/durable.js';
import { decide } from '../../guard/decide.js';
import type { Decision, GuardedCall, GuardRules } from '../../guard/decide.js';
import { Lineage } from '../../guard/lineage.js';
import { effectOf } from '../../guard/effects.js';
import { isDataFile } from '../../guard/data-files.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { BuiltInTool } from '../../plan/built-in-tools.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { ToolCall } from '../model.js';
import { argumentOf } from '../permissions/argument-values.js';
import type { RunTrust } from '../run-trust.js';
import type { AgentStep, OpenedTool } from '../session.js';
import type { FoundFile } from '../tool.js';
import { ownParameters } from '../tools/catalogue.js';
import type { Answer } from './answer.js';
import { inputOf } from './approval.js';
import type { ConversationTrust } from './conversation-trust.js';
import type { Gate } from './gate.js';
import { REFUSED } from './gate.js';
import type { GuardedCallToShow } from './guard-question.js';
import { guardQuestion, widened, yesIn } from './guard-question.js';

/** What the guard asks of the outside about one call. */
export interface Looks {
  /** What is wrong with the call by itself; nobody is asked about a call that can't be made. */
  fault(): Promise<Answer | undefined>;
  /** What a call that writes would find; what is wrong with that. */
  look(): Promise<FoundFile | Answer>;
}

/** Calls that are decided together: those of one turn, or one from inside of a model call. */
export interface Deciding {
  readonly calls: readonly ToolCall[];
  /** `index`: from 1. */
  readonly looks: (call: ToolCall, index: number) => Looks;
  /** Asks a person; `index`: the first call that the question is about. Undefined: nobody answered in time. */
  readonly ask: (question: Question, index: number) => Promise<string | undefined>;
  /** Its outcome is taken from the run that this one was forked from: it is not made here. */
  readonly isTaken: (call: ToolCall, index: number) => boolean;
}

/** What a model sees of a call about which nobody answered in time. */
const EXPIRED: Answer = {
  output: 'Error: a person must allow this call, and nobody answered in time; it was not made',
  isError: true,
  own: true,
};

/** What the guard says of a call: what the model gets instead of a result, or that a person has allowed it. Undefined: it may be made. */
export type Cleared = Answer | 'allowed' | undefined;

/** What decides, before a call is made, whether who had a say in it may. */
export interface Guard {
  /** In the order of the calls. */
  readonly clear: (deciding: Deciding) => Promise<readonly Cleared[]>;
}

interface Guarding extends Pick<AgentStep, 'spec' | 'opened' | 'transcript'> {
  readonly gate: Gate;
  readonly run: RunTrust;
  readonly trust: ConversationTrust;
}

/** Makes the guard of a step: only where something had a say that the user does not vouch for. */
export function createGuard(step: Guarding): Guard {
  const { spec, run, trust } = step;
  const facts = callFacts(step);
  const lineage = new Lineage();
  const [begun] = step.transcript.own;
  const prompt = begun?.role === 'user' ? begun.text : '';
  const rules = (): GuardRules => (spec.sandbox === 'offline' ? { ...run.rules, sandboxed: true } : run.rules);

  async function decideOne(call: ToolCall, looks: Looks): Promise<GuardedCallToShow | Answer | undefined> {
    const guarded = facts(call);
    if (guarded === undefined || step.gate.forbids(call)) return undefined;
    const decision = decide(guarded, trust.label, rules());
    if (decision.kind === 'allow') return undefined;
    const fault = await looks.fault();
    if (fault !== undefined) return fault;
    const settled = guarded.effect === 'write' ? await ofWrite(guarded, looks) : decision;
    if ('output' in settled) return settled;
    if (settled.kind === 'allow' || run.allows(spec.name, call)) return undefined;
    lineage.add(trust.heardTexts(prompt).slice(lineage.size));
    return { call, decision: settled, traces: lineage.of(guarded.input), isWhole: guarded.effect === 'run' };
  }

  async function ofWrite(guarded: GuardedCall, looks: Looks): Promise<Decision | Answer> {
    const found = await looks.look();
    if ('output' in found) return found;
    const write = trust.wrote.has(found.path) ? 'own' : found.isNew && isDataFile(found.path) ? 'data' : undefined;
    return decide({ ...guarded, write }, trust.label, rules());
  }

  async function clear({ calls, looks, ask, isTaken }: Deciding): Promise<readonly Cleared[]> {
    const decided = await Promise.all(calls.map((call, at) => decideOne(call, looks(call, at + 1))));
    const asked = decided.flatMap((one, at) =>
      one !== undefined && !('output' in one) && !isTaken(one.call, at + 1) ? [{ ...one, at }] : [],
    );
    const [first] = asked;
    const circumstances = { agent: spec.name, label: trust.label, rules: rules() };
    const said = first && ((await ask(guardQuestion(circumstances, asked), first.at + 1)) ?? EXPIRED);
    const yes = typeof said === 'string' ? yesIn(said) : undefined;
    for (const one of asked) {
      const more = yes && widened(spec.name, one, yes);
      if (more !== undefined) run.widen(more);
    }
    const no = typeof said === 'object' ? said : REFUSED;
    const waiting = new Set(asked.map(({ at }) => at));
    return decided.map((one, at): Cleared => {
      if (one === undefined || 'output' in one) return one;
      return yes !== undefined || !waiting.has(at) ? 'allowed' : no;
    });
  }

  return { clear };
}

/** Gives what of a call decides; undefined for one that is none of the guard's business: of the step itself, of a stand-in, or one that can do nothing. */
function callFacts({ spec, opened, trust }: Guarding): (call: ToolCall) => GuardedCall | undefined {
  const tools = new Map(opened.tools.map((tool) => [tool.name, tool]));
  const seesPrivate = opened.tools.some(maySeePrivate);
  return (call) => {
    const tool = tools.get(call.name);
    const given = inputOf(call);
    if (tool === undefined || tool.pretended === true || given === undefined) return undefined;
    const builtIn = builtInTool(tool);
    const input = builtIn === undefined ? given : ownParameters(builtIn, given);
    const { origin, effect } = tool;
    const server = origin && { readOnly: origin.readOnly === true, named: isNamed(spec, tool, origin) };
    // An agent that is a tool is guarded itself, from what this one has heard on.
    const isAgent = spec.functions?.some(({ name, calls }) => name === tool.name && calls !== undefined) === true;
    return {
      effect: effectOf({ builtIn, effect: isAgent ? 'read' : effect, server }, input),
      tool: builtIn ?? (origin === undefined ? tool.name : `${origin.server}/${origin.tool}`),
      input,
      server,
      argv: builtIn === 'shell' ? argumentOf(builtIn, 'argv', given).values : undefined,
      seesPrivate: seesPrivate || trust.label.isPrivate,
    };
  };
}

function builtInTool({ name, origin, code }: OpenedTool): BuiltInTool | undefined {
  return origin === undefined && code === undefined ? builtInOf(name) : undefined;
}

/** Only what is fetched from public addresses is for everybody, and writing shows nothing. */
function maySeePrivate(tool: OpenedTool): boolean {
  const builtIn = builtInTool(tool);
  return builtIn === undefined || (builtIn !== 'fetch' && builtIn !== 'write_file');
}

/** Whether the agent's list names the tool itself, not its server as a whole. */
function isNamed({ tools = [] }: AgentSpec, { name }: OpenedTool, origin: NonNullable<OpenedTool['origin']>): boolean {
  const { server, tool } = origin;
  const names = [`${server}/${tool}`, `mcp__${server}__${tool}`, name];
  return tool !== '*' && tools.some((one) => names.includes(one.trim()));
}
