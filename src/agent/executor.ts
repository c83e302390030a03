import { SkeinError, toErrorData } from '../base/errors.js';
import type { Executor, Result, StepContext } from '../engine/ports/executor.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import type { AgentNode } from '../plan/plan.js';
import type { AskUser } from './ask-user.js';
import { askUser } from './ask-user.js';
import { runAgentLoop } from './loop/agent-loop.js';
import type { SharedMemory } from './memory.js';
import { MEMORY_ADDENDUM, memoryTools, withMemory } from './memory.js';
import type { Model } from './model.js';
import { systemPrompt } from './system-prompt.js';
import type { Tool, ToolSource } from './tool.js';
import type { ToolProvider } from './tool-provider.js';

/** Finds the models of an agent. Implemented by the model registry. */
export interface ModelSource {
  /**
   * The models to try, in order; at least one. Nothing is loaded yet.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` when there is none.
   */
  resolve(spec: AgentSpec, caller: { readonly path: string; readonly agent: string }): Promise<readonly Model[]>;
}

/** What agents are made of. */
export interface AgentDeps {
  readonly models: ModelSource;
  readonly tools: ToolProvider;
  /** The memory of this run, when the workflow has one. */
  readonly memory?: SharedMemory;
}

/**
 * The executor of agent nodes: opens the tools, renders the prompts, runs the loop, closes the tools on every way out.
 * Its output is the final text, or the parsed JSON of a structured output. Each step is a session of its own.
 *
 * @example
 * const executors = { agent: agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools }) };
 */
export function agentExecutor(deps: AgentDeps): Executor<AgentNode> {
  return async (node, step) => {
    const session = agentSession();
    const ask = askUser(step);
    try {
      return { type: 'done', output: await runAgent(deps, node, step, session, ask) };
    } catch (error) {
      return failure(error, ask);
    } finally {
      // Closing is an effect like any other; a step that is already over has no effects, and closes all the same.
      await step.effect('close', () => session.close()).catch(() => session.close());
    }
  };
}

function failure(error: unknown, ask: AskUser): Result {
  const question = ask.open();
  if (SkeinError.isInstance(error) && error.code === 'SKEIN_QUESTION' && question !== undefined) {
    return { type: 'paused', question, reason: error.message };
  }
  return { type: 'failed', error: toErrorData(error) };
}

async function runAgent(
  deps: AgentDeps,
  node: AgentNode,
  step: StepContext,
  session: AgentSession,
  ask: AskUser,
): Promise<unknown> {
  const spec = node.agent;
  // What is open can't be recorded, so the record holds only names, and the memory as this step saw it first.
  const { memory } = await step.effect('open', (io) => session.open(deps, spec, step, io.signal), { effect: 'read' });
  // A replay gives the record and opens nothing.
  if (!session.isOpen()) await session.open(deps, spec, step, new AbortController().signal);
  const models = session.models();
  const tools = distinct([...ownTools(deps, spec, step), ...session.tools()]);
  const inject = spec.memory?.inject === true;
  const addendum = deps.memory !== undefined && spec.memory !== undefined && !inject ? [MEMORY_ADDENDUM] : [];
  const system = systemPrompt(step.render(spec.instructions), spec.skills ?? [], () => step.random(), addendum);
  const rendered = step.render(node.prompt);
  const prompt = inject ? withMemory(memory, rendered) : rendered;
  step.note({ kind: 'prompt', system, prompt, model: models[0]?.id ?? '' });
  const result = await runAgentLoop({
    step,
    spec,
    models,
    system,
    prompt,
    tools,
    stepTools: spec.interactive === true ? [ask.tool] : [],
    watch: (signal) => session.watch(signal),
  });
  return result.output;
}

/** Providers refuse two tools of one name: the first stays. */
function distinct(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
}

function ownTools(deps: AgentDeps, spec: AgentSpec, step: StepContext): readonly Tool[] {
  if (deps.memory === undefined || spec.memory === undefined) return [];
  return memoryTools(deps.memory, { agent: spec.name, now: () => step.now(), note: (note) => step.note(note) });
}

/** What is recorded of an opened session. */
interface Opened {
  readonly models: readonly string[];
  readonly tools: readonly string[];
  readonly memory: string;
}

interface AgentSession {
  open(deps: AgentDeps, spec: AgentSpec, step: StepContext, signal: AbortSignal): Promise<Opened>;
  isOpen(): boolean;
  models(): readonly Model[];
  tools(): readonly Tool[];
  /** Closes the tools when the signal of an effect is aborted: a cancelled step may never be resumed to its end. */
  watch(signal: AbortSignal): void;
  close(): Promise<void>;
}

/** The resources of one step. Closing is safe at any time, also while opening, and happens once. */
function agentSession(): AgentSession {
  let source: ToolSource | undefined;
  let models: readonly Model[] = [];
  let closed: Promise<void> | undefined;
  const watched = new WeakSet<AbortSignal>();

  function close(): Promise<void> {
    closed ??= source === undefined ? Promise.resolve() : source.close().catch(() => undefined);
    return closed;
  }
  function watch(signal: AbortSignal): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    if (signal.aborted) void close();
    else signal.addEventListener('abort', () => void close(), { once: true });
  }
  return {
    watch,
    close,
    isOpen: () => source !== undefined,
    models: () => models,
    tools: () => source?.tools ?? [],
    async open(deps, spec, step, signal) {
      const agent = spec.name;
      models = await deps.models.resolve(spec, { path: step.path, agent });
      const warn = (code: string, message: string): void => step.note({ kind: 'warning', code, message });
      const opened = await deps.tools.open(spec, { runId: step.runId, path: step.path, agent, signal, warn });
      if (closed !== undefined) await opened.close();
      source = opened;
      watch(signal);
      const memory = deps.memory === undefined || spec.memory === undefined ? '' : deps.memory.read();
      return { models: models.map((model) => model.id), tools: opened.tools.map((tool) => tool.name), memory };
    },
  };
}
