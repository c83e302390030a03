import { checkOptions, type OptionForms } from '../base/options.js';
import { SkeinError } from '../base/errors.js';
import { present } from '../base/json.js';
import { digestText } from '../base/hash.js';
import type { StepNote } from '../events/event.js';
import type { Around, RunOptionsOf } from '../engine/ports/durable.js';
import type { Identity } from '../engine/ports/recording.js';
import type { ChannelWrite, Executor, Result, StepContext } from '../engine/ports/executor.js';
import { withCorrection } from '../lang/xml-block.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { Guide } from '../plan/guide.js';
import type { AgentNode } from '../plan/plan.js';
import { askUserTool, failure } from './ask-user.js';
import { guideOf, guideTools } from './choice.js';
import type { ToolRunOptions } from './function-tools.js';
import type { Label } from '../guard/label.js';
import { answerFields } from './loop/answer-fields.js';
import { answerChecks } from './loop/answer-checks.js';
import { runAgentLoop, type LoopResult } from './loop/agent-loop.js';
import type { StepTool, ToolProvider } from './tool.js';
import { MEMORY_ADDENDUM, memoryTools, withMemory, type SharedMemory } from './memory.js';
import type { ModelSource } from './model.js';
import { agentSession, openAround, type AgentSession, type Opened } from './session.js';
import { RunTrust, type WrittenFiles, type WrittenHere } from './run-trust.js';
import type { CustomGuard } from '../guard/custom-guard.js';
import type { GuardRules } from '../guard/decide.js';
import { declarationsOf, unitedRules } from '../guard/policy.js';
import type { Policy } from '../plan/policy.js';
import type { Security } from '../plan/security.js';
import { createStages } from './loop/stages.js';
import { ConversationTrust, hearFailedServers } from './loop/conversation-trust.js';
import { describeSurroundings, newMark, skillMark, systemPrompt } from './system-prompt.js';
import { conversationOf, recentOf, Transcript, type Earlier } from './transcript.js';
import { THINK, thinkTool, TODO, todoTools } from './think-and-todo.js';

/** The parts that agents are built from. */
export interface AgentDeps {
  readonly models: ModelSource;
  readonly tools: ToolProvider;
  /** The shared memory of this run, if the workflow has one. */
  readonly memory?: SharedMemory;
  /** The earlier model identities of an agent (`ModelSource.identity`), from sessions whose results stay valid whatever the identity is. */
  readonly formerModels?: (agent: AgentNode) => readonly string[];
  /** The working directory of the tools. Defaults to that of the process. */
  readonly cwd?: string;
  /** Returns options for runs that tools start; those runs use the models of this run. */
  readonly runOptions?: RunOptionsOf;
  /** The label of what influenced the parent run before it started this run. */
  readonly influence?: Label | undefined;
  /** What the user allows in advance. */
  readonly rules?: GuardRules;
  /** Policies that apply to all agents, whatever their files say. */
  readonly policies?: readonly Policy[];
  /** The models that examine the tool calls of the step at a path; absent if no model does. */
  readonly security?: (path: string) => Security | undefined;
  /** Guards that the program supplies. */
  readonly guards?: readonly CustomGuard[] | undefined;
  /** The record of written files, kept beyond this run. Absent if none is kept. */
  readonly files?: WrittenFiles | undefined;
  /** What the runs around this one, and this one, wrote so far. */
  readonly wrote?: WrittenHere | undefined;
}

/**
 * The executor of agent nodes: opens the tools, renders the prompts, runs the loop, and closes the tools however the step ends.
 * Its output is the final text, or the parsed JSON of a structured output. Each step is a session of its own.
 * A replay opens nothing; an interrupted step continues at the first model or tool call that is not recorded.
 *
 * @throws SkeinError `SKEIN_USAGE` for parts that do not exist
 * @example
 * const executors = { agent: agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools }) };
 */
export function agentExecutor(deps: AgentDeps, run?: RunTrust): Executor<AgentNode> {
  checkOptions<AgentDeps>('agentExecutor', deps, DEPS);
  return executorOf(deps, run ?? runTrustOf(deps));
}

const DEPS: OptionForms<AgentDeps> = {
  models: 'an object',
  tools: 'an object',
  memory: 'an object',
  formerModels: 'a function',
  cwd: 'text',
  runOptions: 'a function',
  influence: 'an object',
  rules: 'an object',
  policies: 'a list',
  security: 'a function',
  guards: 'a list',
  files: 'an object',
  wrote: 'an object',
};

/** The executor of a run's agents: its parts are Skein's own. */
export function executorOf(deps: AgentDeps, run: RunTrust): Executor<AgentNode> {
  const { models, tools } = deps;
  return async (node, step) => {
    const runOptions: ToolRunOptions | undefined =
      deps.runOptions &&
      (({ reserve, parts, label, hear, wrote, ask }) => {
        const influence = { label, add: hear, wrote };
        const tell: Around['tell'] = (note, again) => step.note(note, again);
        return deps.runOptions?.({ reserve, parts, tell, influence, path: step.path, ask }) ?? {};
      });
    const session = agentSession({ models, tools, runOptions, spec: node.agent, step });
    const transcript = new Transcript();
    try {
      return await runAgent({ deps, node, step, session, transcript, run });
    } catch (error) {
      hearFailedServers(error, node.agent, step.influence);
      return failure(error);
    } finally {
      // Closing is an effect too. A step that has already ended can have no effects, so the session is then closed directly.
      const identity = sessionIdentity(deps, node, step, (text) => `${text} ${transcript.digest()}`);
      await step
        .effect('close', () => session.close(), { cleanup: true, losable: true, identity })
        .catch(() => session.close());
    }
  };
}

/** Creates the trust state of a run with these parts; the run's agents and its other steps share it. */
export function runTrustOf(deps: Pick<AgentDeps, 'influence' | 'rules' | 'policies' | 'files' | 'wrote'>): RunTrust {
  return new RunTrust(deps.influence, rulesFor(deps), deps.policies, deps.files, deps.wrote);
}

/** Merges the declarations of the policies with what the user allows in advance. */
function rulesFor({ rules, policies = [] }: Pick<AgentDeps, 'rules' | 'policies'>): GuardRules {
  return unitedRules(rules, declarationsOf(policies));
}

interface AgentRun {
  readonly deps: AgentDeps;
  readonly node: AgentNode;
  readonly step: StepContext;
  readonly session: AgentSession;
  readonly transcript: Transcript;
  readonly run: RunTrust;
}

async function runAgent(run: AgentRun): Promise<Result> {
  const { deps, node, step, session, transcript } = run;
  const memory = deps.memory === undefined || node.agent.memory === undefined ? undefined : deps.memory;
  // Memory is read first: writes by other agents while this one opens its tools must not reach the prompt.
  const remembered = memory?.read() ?? '';
  const opened = await step.effect('open', (io) => openAround({ ...deps, session, spec: node.agent, step }, io), {
    effect: 'read',
    losable: true,
    identity: sessionIdentity(deps, node, step, (text) => text),
  });
  if (opened.planted === true) run.run.here.foundPlanted();
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
  // The transcript is recorded with a mark that is drawn for the step.
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

/** Creates the trust of a conversation from what influenced it before the first model call. */
function trustOf(
  { run, step, node }: AgentRun,
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

/** @throws SkeinError `SKEIN_DEFINITION` if a step's own tool has the name of another tool: a model could not distinguish them */
function distinct(own: readonly StepTool[], opened: Opened, { id }: AgentNode): readonly StepTool[] {
  const names = new Set(opened.tools.map(({ name }) => name));
  for (const { name } of own) {
    if (names.has(name))
      throw new SkeinError('SKEIN_DEFINITION', `'${id}' has two tools named "${name}"`, { hint: 'rename one of them' });
    names.add(name);
  }
  return own;
}

/** Returns the earlier messages of a node's conversation; undefined for a node without one. */
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

/** The input of the agent: its prompt, or the last message of a person. */
function askedIn(prompt: string, earlier: Earlier | undefined): string {
  const last = earlier?.messages.at(-1);
  return prompt === '' && last?.role === 'user' ? last.text : prompt;
}

/** Returns the writes that add this step's messages to the conversation; each message of an agent carries the agent's name. */
function addedTo({ conversation, agent: { name } }: AgentNode, { kept }: Transcript): ChannelWrite[] {
  if (conversation === undefined) return [];
  const { channel, afresh, mark } = conversation;
  // Node 20 adds keys to a spread copy ten times more slowly.
  const value = kept.map((message) =>
    Object.assign({}, message, message.role === 'assistant' ? { by: name } : undefined, mark),
  );
  return [...(afresh === true ? [{ channel, value: undefined }] : []), { channel, value }];
}

/** An agent whose definition changed gets a session of its own, even if its transcript is the same. */
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

/** Returns the agent's spec for a model, whose name may or may not include its provider. */
function forModel(spec: AgentSpec, model: string | undefined): AgentSpec {
  const { forModels } = spec;
  if (forModels === undefined) return spec;
  const name = model?.toLowerCase() ?? '';
  const bare = name.slice(name.indexOf('/') + 1);
  const changes = [name, bare].map((one) => Object.entries(forModels).find(([key]) => key.toLowerCase() === one)?.[1]);
  return { ...spec, ...present(changes.find((one) => one !== undefined) ?? {}) };
}
