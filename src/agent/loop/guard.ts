import type { Question, StepIo } from '../../engine/ports/durable.js';
import { decide, type Decision, type GuardedCall, type GuardRules } from '../../guard/decide.js';
import { Lineage } from '../../guard/lineage.js';
import { digestText } from '../../base/hash.js';
import { recordText, type JsonObject } from '../../base/json.js';
import { Findings } from '../../guard/patterns.js';
import { effectOf, isDataFile } from '../../guard/effects.js';
import type { Label } from '../../guard/label.js';
import { unitedRules } from '../../guard/policy.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { BuiltInTool } from '../../plan/built-in-tools.js';
import type { Declarations } from '../../plan/declarations.js';
import { builtInOf } from '../../plan/tool-names.js';
import type { ToolCall } from '../model.js';
import { argumentOf } from '../permissions/argument-values.js';
import type { RunTrust } from '../run-trust.js';
import type { AgentStep, OpenedTool } from '../session.js';
import type { Stages } from './stages.js';
import type { FoundFile } from '../tool.js';
import { ownParameters } from '../tools/catalogue.js';
import type { Answer } from './answer.js';
import { inputOf } from './approval.js';
import type { ConversationTrust } from './conversation-trust.js';
import { promptOf, tellDecided } from './decided.js';
import { agentCalled, REFUSED, type Gate } from './gate.js';
import { guardQuestion, widened, yesIn, type GuardedCallToShow } from './guard-question.js';

export interface Looks {
  /** What is wrong with the call; a call that cannot be made is not put to a person. */
  fault(): Promise<Answer | undefined>;
  /** The file that a writing call would find, or what is wrong with the call. */
  look(): Promise<FoundFile | Answer>;
}

/** Calls that are decided together: those of one turn, or one call inside a model call. */
export interface Deciding {
  readonly calls: readonly ToolCall[];
  /** `index` counts from 1; `again`: the arguments of the call were changed. */
  readonly looks: (call: ToolCall, index: number, again: boolean) => Looks;
  /** `TURN.INDEX` of a call. */
  readonly at: (index: number) => string;
  /** For a call inside a model call: the effect of the model call. */
  readonly io?: StepIo;
  /** Asks a person; `index`: the first call that the question is about. Undefined if the answer did not come in time. */
  readonly ask: (question: Question, index: number) => Promise<string | undefined>;
  /** Whether the call's outcome comes from the run that this one was forked from, so that the call is not made again. */
  readonly isTaken: (call: ToolCall, index: number) => boolean;
}

/** The answer to a model about a call that a person did not answer in time. */
const EXPIRED: Answer = {
  output: 'Error: a person must allow this call, and there was no answer in time; it was not made',
  isError: true,
  own: true,
};

export interface ClearedCall {
  /** The call as it is made: a reviewer may have changed its arguments. */
  readonly call: ToolCall;
  readonly isChanged: boolean;
  /** Whether a person has allowed it. */
  readonly isAllowed: boolean;
}

/** The decision about a call: the error for the model, or how the call may be made. */
export type Cleared = Answer | ClearedCall;

/** The answer to a model about a call that a stage or guard refused. It omits the reason, which untrusted text may have influenced. */
const STOPPED: Answer = {
  output:
    'Error: this call was refused by a security check of this workflow. Do not try to reach the same in another way.',
  isError: true,
  own: true,
};

interface Guarding extends Pick<AgentStep, 'spec' | 'opened' | 'step' | 'transcript' | 'who'> {
  readonly gate: Gate;
  readonly run: RunTrust;
  readonly trust: ConversationTrust;
  /** Models and guards of the program that examine calls; absent if there are none. */
  readonly stages?: Stages | undefined;
  /** Set if the author of the workflow wrote the call, which the step then makes directly. */
  readonly authored?: Authored | undefined;
}

export interface Authored {
  /** Whether no value is inserted, neither into a word of a command nor into an argument of another call. */
  readonly isFixed: boolean;
  /** Names of arguments into which no value is inserted. */
  readonly fixed: ReadonlySet<string>;
  readonly declared: Declarations;
}

/** The decision about a call in the form in which it would be made. */
interface Decided {
  readonly call: ToolCall;
  readonly isChanged: boolean;
  /** Undefined if the guard does not apply to the call. */
  readonly found: Decision | Answer | undefined;
}

/** Decides, before a call is made, whether those who influenced it may cause it. Not needed if only trusted material did. */
export class Guard {
  private readonly facts: (call: ToolCall) => CallFacts | undefined;
  private readonly lineage = new Lineage();
  private readonly found = new Findings();
  private readonly prompt: string;

  constructor(private readonly step: Guarding) {
    this.facts = callFacts(step);
    this.prompt = promptOf(step);
  }

  /** Returns decisions in the order of the calls. */
  async clear(deciding: Deciding): Promise<readonly Cleared[]> {
    const { spec, run, trust } = this.step;
    const { calls, isTaken, ask } = deciding;
    const who = this.step.who ?? agentCalled(spec);
    const decided = await Promise.all(calls.map((call, at) => this.decide(call, at + 1, deciding)));
    const asked = decided.flatMap(({ call, found }, at) =>
      isAsked(found) && !isTaken(call, at + 1) ? [{ ...this.shown(call, found), at }] : [],
    );
    for (const { call, decision, traces, findings } of asked) tellDecided(this.step, call, decision, traces, findings);
    const [first] = asked;
    const circumstances = { who, label: trust.label, rules: this.rules };
    const said = first && ((await ask(guardQuestion(circumstances, asked), first.at + 1)) ?? EXPIRED);
    const yes = typeof said === 'string' ? yesIn(said) : undefined;
    for (const one of asked) {
      const more = yes && widened(this.caller(one.call), one, yes);
      if (more !== undefined) run.widen(more);
    }
    const no = typeof said === 'object' ? said : REFUSED;
    const waiting = new Set(asked.map(({ at }) => at));
    return decided.map(({ call, isChanged, found }, at): Cleared => {
      if (found !== undefined && 'output' in found) return found;
      if (!isAsked(found)) return { call, isChanged, isAllowed: false };
      return yes !== undefined || !waiting.has(at) ? { call, isChanged, isAllowed: true } : no;
    });
  }

  /**
   * Returns whether untrusted text may lead a call on to an address of another host: as if it asked for that address itself, without a
   * question. Who redirects may pass on what the first address contained.
   */
  follows(call: ToolCall): (url: URL) => boolean {
    return ({ href }) => {
      const { run, trust } = this.step;
      const guarded = this.facts({ ...call, input: JSON.stringify({ url: href }) });
      if (guarded === undefined || decide(guarded, trust.label, this.rules).kind === 'allow') return true;
      return run.allows(this.caller(call), { ...call, input: JSON.stringify({ ...inputOf(call), url: href }) });
    };
  }

  /** Runs all tiers, one after the other; a call that a reviewer changes goes through all of them again. */
  private async decide(call: ToolCall, index: number, deciding: Deciding, again = false): Promise<Decided> {
    const { stages, trust } = this.step;
    const looks = deciding.looks(call, index, again);
    const found = await this.firstTier(call, looks);
    const guarded = this.facts(call);
    const given = inputOf(call);
    const decided = { call, isChanged: again, found };
    const isOpen = found !== undefined && 'kind' in found && found.kind !== 'deny';
    if (stages === undefined || guarded === undefined || given === undefined || !isOpen) return decided;
    if (deciding.isTaken(call, index)) return decided;
    // A call that cannot be made is not worth a paid examination.
    const fault = await looks.fault();
    if (fault !== undefined) return { ...decided, found: fault };
    const { label } = trust;
    const { at, io } = deciding;
    const heard = {
      decision: found,
      label,
      texts: trust.heardTexts(this.prompt),
      findings: label.level === 'untrusted' ? this.findings(given) : [],
    };
    const judged = await stages.judge({ call, input: given, guarded, ...heard, at: at(index), again, io });
    switch (judged.kind) {
      case 'pass':
        return decided;
      case 'ask':
        return { ...decided, found: askedBy(judged, found, label) };
      case 'refuse':
        return { ...decided, found: STOPPED };
      case 'modify':
        return await this.decide({ ...call, input: JSON.stringify(judged.input) }, index, deciding, true);
    }
  }

  /** Decides without any model. Undefined if the guard does not apply to the call, or a rule forbids it. */
  private async firstTier(call: ToolCall, looks: Looks): Promise<Decision | Answer | undefined> {
    const { gate, run, trust } = this.step;
    const guarded = this.facts(call);
    if (guarded === undefined || gate.forbids(call) !== undefined) return undefined;
    if (guarded.pretended) return PRETENDED;
    const decision = decide(guarded, trust.label, this.rules);
    if (decision.kind === 'allow') return decision;
    const fault = await looks.fault();
    if (fault !== undefined) return fault;
    const settled = guarded.effect === 'write' ? await this.ofWrite(guarded, looks) : decision;
    return 'kind' in settled && run.allows(this.caller(call), call) ? WIDENED : settled;
  }

  private async ofWrite(guarded: GuardedCall, looks: Looks): Promise<Decision | Answer> {
    const { trust } = this.step;
    const found = await looks.look();
    if ('output' in found) return found;
    const isExpected = found.isNew || this.step.authored?.fixed.has('path') === true;
    const write = trust.wrote.has(found.path) ? 'own' : isExpected && isDataFile(found.path) ? 'data' : undefined;
    return decide({ ...guarded, write }, trust.label, this.rules);
  }

  /** Who calls, for what a person widens: of two agents with one name, each has its own. */
  private caller({ name }: ToolCall): string {
    const { spec, step, authored, opened } = this.step;
    if (authored !== undefined) return `step ${spec.name} ${step.definition()}`;
    const code = opened.tools.find((tool) => tool.name === name)?.code;
    return `agent ${digestText(recordText([spec, code ?? null]))}`;
  }

  /** The data of a question about a call, including where its arguments come from. */
  private shown(call: ToolCall, decision: Decision): GuardedCallToShow {
    const { lineage } = this;
    const guarded = this.facts(call);
    const { input = {} } = guarded ?? {};
    lineage.add(this.step.trust.heardTexts(this.prompt).slice(lineage.size));
    const traces = lineage.of(input);
    return { call, decision, traces, findings: this.findings(input), isWhole: guarded?.effect === 'run' };
  }

  /** Computed only for calls that somebody judges. */
  private findings(input: JsonObject): readonly string[] {
    const { found, step } = this;
    found.add(step.trust.heardTexts(this.prompt).slice(found.size));
    return found.of(input);
  }

  private get rules(): GuardRules {
    const { spec, run, authored } = this.step;
    const rules = authored === undefined ? run.rules : unitedRules(run.rules, authored.declared);
    return spec.sandbox === 'offline' ? { ...rules, sandboxed: true } : rules;
  }
}

/** A stand-in has no effects. */
const PRETENDED: Decision = { kind: 'allow', rule: 'pretended' };

/** A person has allowed calls like this one. */
const WIDENED: Decision = { kind: 'allow', rule: 'widened' };

/** The decision if a guard of the program wants a person to decide; a question of the first tier stays as it is. */
export function askedBy(
  { rule, why }: { readonly rule: string; readonly why: string },
  found: Decision,
  label: Label,
): Decision {
  return found.kind === 'ask' ? found : { kind: 'ask', rule, why, sources: label.sources };
}

function isAsked(one: Decision | Answer | undefined): one is Decision {
  return one !== undefined && 'kind' in one && one.kind !== 'allow';
}

interface CallFacts extends GuardedCall {
  readonly pretended: boolean;
  /** Whether the call reads what the user vouches for. */
  readonly isTrustedRead: boolean;
}

/** Returns a reader of call facts, which are undefined if the guard does not apply: for the step's own tools and unusable calls. */
function callFacts({ spec, opened, trust, authored }: Guarding): (call: ToolCall) => CallFacts | undefined {
  const tools = new Map(opened.tools.map((tool) => [tool.name, tool]));
  const seesPrivate = trust.hasListeners || opened.tools.some(maySeePrivate);
  return (call) => {
    const tool = tools.get(call.name);
    const given = inputOf(call);
    if (tool === undefined || given === undefined) return undefined;
    const builtIn = builtInTool(tool);
    const input = builtIn === undefined ? given : ownParameters(builtIn, given);
    const { origin, effect } = tool;
    const server = origin && { readOnly: origin.readOnly === true, named: isNamed(spec, tool, origin) };
    // An agent used as a tool has a guard of its own, which starts from this agent's label.
    const isAgent = spec.functions?.some(({ name, calls }) => name === tool.name && calls !== undefined) === true;
    const does = effectOf({ builtIn, effect: isAgent ? 'read' : effect, server }, input);
    return {
      effect: does,
      pretended: tool.pretended === true,
      isTrustedRead: does === 'read' && origin === undefined && tool.trust === 'trusted',
      tool: builtIn ?? (origin === undefined ? tool.name : `${origin.server}/${origin.tool}`),
      input,
      server,
      isFixed: authored?.isFixed,
      argv: builtIn === 'shell' ? argumentOf(builtIn, 'argv', given).values : undefined,
      seesPrivate: seesPrivate || trust.label.isPrivate,
    };
  };
}

function builtInTool({ name, origin, code }: OpenedTool): BuiltInTool | undefined {
  return origin === undefined && code === undefined ? builtInOf(name) : undefined;
}

/** Only fetched public addresses are public, and writing returns no content. */
function maySeePrivate(tool: OpenedTool): boolean {
  const builtIn = builtInTool(tool);
  return builtIn === undefined || (builtIn !== 'fetch' && builtIn !== 'write_file');
}

/** Whether the agent's list names the tool itself, not only its server. */
function isNamed({ tools = [] }: AgentSpec, { name }: OpenedTool, origin: NonNullable<OpenedTool['origin']>): boolean {
  const { server, tool } = origin;
  const names = [`${server}/${tool}`, `mcp__${server}__${tool}`, name];
  return tool !== '*' && tools.some((one) => names.includes(one.trim()));
}
