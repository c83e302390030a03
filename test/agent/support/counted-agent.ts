import type { FinishReason, Model, ModelRequest, ToolCall } from '../../../src/agent/model.js';
import type { ModelRegistryOptions } from '../../../src/agent/models/registry-options.js';
import { createModelRegistry } from '../../../src/agent/models/registry.js';
import type { Tool, ToolProvider } from '../../../src/agent/tool.js';
import type { AgentRun, AgentRunOptions } from './run-agent.js';
import { fixedTools, runAgent } from './run-agent.js';

/** What a model answers in a turn. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, input: string])[];
}

/** What really happened in one process: everything here costs money, time or a process. */
export interface Counts {
  readonly resolved: number;
  readonly opened: number;
  readonly closed: number;
  /** Turns for which the model was called. */
  readonly turns: readonly number[];
  readonly requests: readonly ModelRequest[];
}

/** A process that runs one agent step, with everything counted. */
export interface CountedRun extends AgentRun {
  readonly counts: Counts;
}

/** What a model says that looks at a call. */
export type Judge = (request: ModelRequest, phase: string) => string | Promise<string>;

/** A model that answers by the number of the turn. */
export function modelOf(id: string, said: readonly Said[], asked: ModelRequest[], judge?: Judge): Model {
  return {
    id,
    structuredOutput: true,
    async *stream(request) {
      asked.push(request);
      const { phase } = request.caller;
      if (phase !== undefined && judge !== undefined) {
        yield { type: 'text', text: await judge(request, phase) };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
        return;
      }
      const { text = '', calls = [] } = said[request.caller.turn - 1] ?? {};
      if (text !== '') yield { type: 'text', text };
      for (const [i, [name, input]] of calls.entries()) {
        const call: ToolCall = { id: `c${request.caller.turn}.${i + 1}`, name, input };
        yield { type: 'tool-call', call };
      }
      const reason: FinishReason = calls.length > 0 ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

export interface CountedOptions extends Omit<AgentRunOptions, 'models'> {
  readonly said: readonly Said[];
  readonly tools?: readonly Tool[];
  readonly models?: Partial<ModelRegistryOptions>;
  readonly judge?: Judge | undefined;
}

/** Runs one agent step whose model is `own/m`, unless `models` says otherwise. */
export async function countedRun(options: CountedOptions): Promise<CountedRun> {
  const { said, tools = [], models, judge, ...rest } = options;
  const requests: ModelRequest[] = [];
  const counts = { resolved: 0, opened: 0, closed: 0 };
  const own = createModelRegistry({
    env: {},
    noProbe: true,
    providers: { own: (name) => modelOf(`own/${name}`, said, requests, judge) },
    ...models,
  });
  const provider: ToolProvider = {
    async open(spec, session) {
      counts.opened += 1;
      const source = await fixedTools(tools).open(spec, session);
      return {
        tools: source.tools,
        close: () => {
          counts.closed += 1;
          return source.close();
        },
      };
    },
  };
  const registry: typeof own = {
    ...own,
    resolve: (spec, caller) => {
      counts.resolved += 1;
      return own.resolve(spec, caller);
    },
  };
  const run = await runAgent({
    ...rest,
    spec: { models: ['own/m'], ...rest.spec },
    registry,
    tools: provider,
  });
  return { ...run, counts: { ...counts, requests, turns: requests.map((request) => request.caller.turn) } };
}

/** Runs a step whose process dies when an effect starts; gives what was recorded until then. */
export async function recordUntil(dieAt: string, options: CountedOptions): Promise<AgentRun['step']['record']> {
  const run = await new Promise<AgentRun['step']>((resolve) => {
    void countedRun({
      ...options,
      dieAt,
      before: (step) => {
        const start = step.effect.bind(step);
        step.effect = (name, effect, how) => {
          const running = start(name, effect, how);
          if (name === dieAt) setImmediate(() => resolve(step));
          return running;
        };
      },
    });
  });
  return run.record;
}
