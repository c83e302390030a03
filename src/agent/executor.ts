import { SkeinError } from '../base/errors.js';
import { after, present } from '../base/json.js';
import { digestText } from '../base/hash.js';
import type { StepNote } from '../events/event.js';
import type { Identity } from '../engine/ports/durable.js';
import type { ChannelWrite, Executor, Result, StepContext } from '../engine/ports/executor.js';
import { withCorrection } from '../lang/xml-block.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { Guide } from '../plan/guide.js';
import type { AgentNode } from '../plan/plan.js';
import { askUserTool, failure } from './ask-user.js';
import { guideOf, guideTools } from './choice.js';
import type { RunOptionsOf } from '../engine/ports/durable.js';
import type { ToolRunOptions } from './function-tools.js';
import { TRUSTED } from '../guard/label.js';
import { answerFields } from './loop/answer-fields.js';
import { answerChecks } from './loop/answer-checks.js';
import { runAgentLoop } from './loop/agent-loop.js';
import type { LoopResult } from './loop/agent-loop.js';
import type { StepTool, ToolProvider } from './tool.js';
import type { SharedMemory } from './memory.js';
import { MEMORY_ADDENDUM, memoryTools, withMemory } from './memory.js';
import type { ModelSource } from './model.js';
import type { AgentSession, Cancelled, Opened } from './session.js';
import type { WrittenFiles } from './run-trust.js';
import { agentSession, runsCommands } from './session.js';
import type { CustomGuard } from '../guard/custom-guard.js';
import type { GuardRules } from '../guard/decide.js';
import { declarationsOf, unitedRules } from '../guard/policy.js';
import type { Policy } from '../plan/policy.js';
import type { Security } from '../plan/security.js';
import { createStages } from './loop/stages.js';
import type { Label } from '../guard/label.js';
import { ConversationTrust } from './loop/conversation-trust.js';
import { RunTrust } from './run-trust.js';
import { describeSurroundings, newMark, skillMark, surroundingsOf, systemPrompt } from './system-prompt.js';
import { conversationOf, recentOf, Transcript } from './transcript.js';
import type { Earlier } from './transcript.js';
import { THINK, thinkTool, TODO, todoTools } from './think-and-todo.js';

/** What agents are made of. */
export interface AgentDeps {
  readonly models: ModelSource;
  readonly tools: ToolProvider;
  /** The memory of this run, when the workflow has one. */
  readonly memory?: SharedMemory;
  /** What decided about the models of an agent (`ModelSource.identity`) in sessions whose results hold whatever decides now. */
  readonly formerModels?: (agent: AgentNode) => readonly string[];
  /** The working directory of the tools. Default: that of the process. */
  readonly cwd?: string;
  /** Options for runs that tools start: their models are those of this run. */
  readonly runOptions?: RunOptionsOf;
  /** What had a say in the run that started this one, before it did. */
  readonly influence?: Label | undefined;
  /** What the user allows beforehand. */
  readonly rules?: GuardRules;
  /** What holds for all agents, whatever their files say. */
  readonly policies?: readonly Policy[];
  /** Which models look at the calls of the step at a path; absent: none. */
  readonly security?: (path: string) => Security | undefined;
  /** Guards of the program. */
  readonly guards?: readonly CustomGuard[] | undefined;
  /** What is known of files beyond this run. Absent: nothing. */
  readonly files?: WrittenFiles | undefined;
}

/**
 * The executor of agent nodes: opens the tools, renders the prompts, runs the loop, closes the tools on every way out.
 * Its output is the final text, or the parsed JSON of a structured output. Each step is a session of its own.
 * A replay opens nothing; an interrupted step goes on at the first model or tool call that is not recorded.
 *
 * @example
 * const executors = { agent: agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools }) };
 */
export function agentExecutor(deps: AgentDeps, run: RunTrust = runTrustOf(deps)): Executor<AgentNode> {
  const { models, tools } = deps;
  return async (node, step) => {
    const heard: { trust?: ConversationTrust } = {};
    const runOptions: ToolRunOptions | undefined =
      deps.runOptions &&
      ((reserve, tell, hear) => {
        const influence = { label: () => heard.trust?.label ?? TRUSTED, add: hear };
        return deps.runOptions?.(reserve, tell, influence, step.path) ?? {};
      });
    const session = agentSession({ models, tools, runOptions, spec: node.agent, step });
    const transcript = new Transcript();
    try {
      return await runAgent({ deps, node, step, session, transcript, run, heard });
    } catch (error) {
      return failure(error);
    } finally {
      // Closing is an effect like any other; a step that is already over has no effects, and closes all the same.
      const identity = sessionIdentity(deps, node, step, (text) => `${text} ${transcript.digest()}`);
      await step
        .effect('close', () => session.close(), { cleanup: true, losable: true, identity })
        .catch(() => session.close());
    }
  };
}

/** What is known of trust in a run with these parts; its agents and its other steps share it. */
export function runTrustOf(deps: Pick<AgentDeps, 'influence' | 'rules' | 'policies' | 'files'>): RunTrust {
  return new RunTrust(deps.influence, rulesFor(deps), deps.policies, deps.files);
}

/** What the policies declare is united with what the user allows beforehand. */
function rulesFor({ rules, policies = [] }: Pick<AgentDeps, 'rules' | 'policies'>): GuardRules {
  return unitedRules(rules, declarationsOf(policies));
}

/** One execution of an agent node. */
interface AgentRun {
  readonly deps: AgentDeps;
  readonly node: AgentNode;
  readonly step: StepContext;
  readonly session: AgentSession;
  /** Takes what is said. */
  readonly transcript: Transcript;
  readonly run: RunTrust;
  /** Takes what had a say, for runs that its tools start. */
  readonly heard: { trust?: ConversationTrust };
}

async function runAgent(run: AgentRun): Promise<Result> {
  const { deps, node, step, session, transcript } = run;
  const memory = deps.memory === undefined || node.agent.memory === undefined ? undefined : deps.memory;
  // What other agents write while this one opens its tools comes too late for the prompt.
  const remembered = memory?.read() ?? '';
  const opened = await step.effect('open', (io) => open(run, io), {
    effect: 'read',
    losable: true,
    identity: sessionIdentity(deps, node, step, (text) => text),
  });
  if (opened.planted === true) run.run.foundPlanted();
  const spec = forModel(node.agent, opened.models[0]?.id);
  const inject = spec.memory?.inject === true;
  const additions = [
    ...describeSurroundings(spec.about, opened.surroundings),
    ...(memory !== undefined && !inject ? [MEMORY_ADDENDUM] : []),
  ];
  const instructions = step.render(spec.instructions);
  const prompted = (mark: typeof skillMark): string => systemPrompt(instructions, spec.skills ?? [], mark, additions);
  const system = prompted(skillMark);
  const rendered = step.render(node.prompt);
  const asked = inject ? withMemory(remembered, rendered) : rendered;
  const prompt = withCorrection(asked, step.correction);
  step.note({ kind: 'prompt', system, prompt, model: opened.models[0]?.id ?? '' });
  const earlier = earlierOf(node, step);
  const checks = answerChecks(spec, step);
  checks.input(askedIn(asked, earlier));
  // Calls are recorded by a mark that is drawn for the step.
  transcript.begin(system, earlier, prompt, { asked, digested: prompted(() => newMark(() => step.random())) });
  const guide = guideOf(node, step);
  const stepTools = distinct([...ownTools(memory, node, step), ...guideTools(guide)], opened, node);
  const injects = memory !== undefined && inject;
  const trust = trustOf(run, { spec, opened, stepTools, injects, earlier });
  const result = await runAgentLoop({
    step,
    spec,
    opened,
    transcript,
    guide,
    checks,
    fields: answerFields(node, step),
    stepTools,
    run: run.run,
    trust,
    stages: createStages({
      models: deps,
      security: deps.security?.(step.path),
      guards: deps.guards ?? [],
      step,
      agent: spec.name,
      task: asked,
      rules: run.run.rules,
    }),
    use: (effect) => session.use(effect, opened),
    prices: deps.models.prices,
    replayed: (call) => deps.models.replayed?.(spec, call),
  });
  return resultOf(run, guide, result);
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** What had a say before the model is asked for the first time. */
function trustOf(
  { run, step, heard, node }: AgentRun,
  parts: {
    readonly spec: AgentSpec;
    readonly opened: Opened;
    readonly stepTools: readonly StepTool[];
    readonly injects: boolean;
    readonly earlier: Earlier | undefined;
  },
): ConversationTrust {
  const { spec, opened, stepTools, injects, earlier } = parts;
  const own = stepTools.length === 0 ? NO_NAMES : new Set(stepTools.map(({ name }) => name));
  const shares = node.conversation !== undefined;
  const { path, influence } = step;
  const trust = new ConversationTrust({ path, influence, spec, opened, run, own, shares });
  trust.addDescriptions();
  if (injects) trust.addMemory();
  if (earlier !== undefined) trust.addEarlier(earlier.messages);
  heard.trust = trust;
  return trust;
}

function resultOf({ node, transcript }: AgentRun, guide: Guide, result: LoopResult): Result {
  const { text, turns: rounds, toolCalls, exhausted } = result;
  const { goto, writes = {} } = guide.end({ rounds, toolCalls, text });
  const { [node.output ?? '']: output = result.output, ...fields } = result.fields ?? {};
  const all = addedTo(node, transcript);
  const more = Object.assign(fields, writes);
  for (const channel of Object.keys(more)) all.push({ channel, value: more[channel] });
  return exhausted === undefined
    ? { type: 'done', output, goto, writes: all }
    : { type: 'out_of_budget', error: exhausted, writes: all };
}

/** @throws SkeinError `SKEIN_DEFINITION` when a tool of the step is named like another one: a model could not tell them apart */
function distinct(own: readonly StepTool[], opened: Opened, { id }: AgentNode): readonly StepTool[] {
  const names = new Set(opened.tools.map(({ name }) => name));
  for (const { name } of own) {
    if (names.has(name))
      throw new SkeinError('SKEIN_DEFINITION', `'${id}' has two tools named "${name}"`, { hint: 'rename one of them' });
    names.add(name);
  }
  return own;
}

/** What was said before in the conversation of a node; undefined for one without. */
function earlierOf({ conversation }: AgentNode, step: StepContext): Earlier | undefined {
  if (conversation === undefined) return undefined;
  const { channel, recent, afresh } = conversation;
  if (afresh === true) return { messages: [], digest: () => '' };
  const messages =
    recent === undefined
      ? conversationOf(step.read({ channel }), channel)
      : recentOf((count) => step.readEnd(channel, count), channel, recent);
  return { messages, digest: () => `${step.watch().current(channel)} ${recent ?? ''}` };
}

/** What the agent is asked: its prompt, or what a person said last. */
function askedIn(prompt: string, earlier: Earlier | undefined): string {
  const last = earlier?.messages.at(-1);
  return prompt === '' && last?.role === 'user' ? last.text : prompt;
}

/** Each message of an agent says whose it is. */
function addedTo({ conversation, agent: { name } }: AgentNode, { kept }: Transcript): ChannelWrite[] {
  if (conversation === undefined) return [];
  const { channel, afresh, mark } = conversation;
  // To a copy that is spread, Node 20 adds keys ten times slower.
  const value = kept.map((message) =>
    Object.assign({}, message, message.role === 'assistant' ? { by: name } : undefined, mark),
  );
  return [...(afresh === true ? [{ channel, value: undefined }] : []), { channel, value }];
}

/** An agent that is defined otherwise has a session of its own, also when all that is said in it comes out the same. */
function sessionIdentity(
  { models, formerModels }: AgentDeps,
  node: AgentNode,
  step: StepContext,
  whole: (text: string) => string,
): Identity {
  const digestWith = (flags: string): string => digestText(whole(`${step.definition()} ${flags}`));
  return {
    digest: () => digestWith(models.identity?.() ?? ''),
    also: () => formerModels?.(node).map(digestWith) ?? [],
  };
}

function open({ deps, node, step, session }: AgentRun, effect: Cancelled): Opened | Promise<Opened> {
  return after(session.open(effect), (opened) => {
    const surroundings = surroundingsOf(node.agent, step.now(), deps.cwd ?? process.cwd());
    // As it is recorded: what other runs write meanwhile decides nothing on a replay.
    const planted = opened.tools.some(runsCommands) && deps.files?.planted() === true;
    return { ...opened, ...(planted ? { planted } : {}), ...(surroundings === undefined ? {} : { surroundings }) };
  });
}

function ownTools(memory: SharedMemory | undefined, { agent }: AgentNode, step: StepContext): readonly StepTool[] {
  const user = { agent: agent.name, now: () => step.now(), note: (note: StepNote) => step.note(note) };
  const named = new Set((agent.tools ?? []).map((name) => name.trim()));
  return [
    ...(memory === undefined ? [] : memoryTools(memory, user)),
    ...(agent.interactive === true ? [askUserTool] : []),
    ...(named.has(THINK) ? [thinkTool] : []),
    ...(named.size === 0 ? [] : todoTools().filter((tool) => named.has(TODO) || named.has(tool.name))),
  ];
}

/** An agent as it is for a model, which is named with or without its provider. */
function forModel(spec: AgentSpec, model: string | undefined): AgentSpec {
  const { forModels } = spec;
  if (forModels === undefined) return spec;
  const name = model?.toLowerCase() ?? '';
  const bare = name.slice(name.indexOf('/') + 1);
  const changes = [name, bare].map((one) => Object.entries(forModels).find(([key]) => key.toLowerCase() === one)?.[1]);
  return { ...spec, ...present(changes.find((one) => one !== undefined) ?? {}) };
}
