import { createHash } from 'node:crypto';
import {
  agentExecutor,
  createModelRegistry,
  type Message,
  type Model,
  type ModelPart,
} from '../../../src/agent/index.js';
import type { CallIo, Tool, ToolProvider } from '../../../src/agent/tool.js';
import { createToolProvider } from '../../../src/agent/tools/provider.js';
import { attemptAddress } from '../../../src/base/address.js';
import type { TaskStep } from '../../../src/plan/builder-input.js';
import type { Security } from '../../../src/plan/security.js';
import type { RunOptions } from '../../../src/runtime.js';

/** The outside of a workflow: what its steps do here is counted. */
export interface World {
  /** An effect is performed; its key is that of its record, without the run's id. It ends after a while. */
  perform(key: string): Promise<void>;
  /** What a receiver who does not honour keys gets. */
  receive(key: string): void;
  /** File that programs append to what they do; each line is a key that {@link receive} could have got. */
  readonly receiver: string;
  /** A folder of its own. */
  readonly cwd: string;
}

/** A body that performs an effect and then gives what `give` says. */
export function task<T>(world: World, give: (state: Readonly<Record<string, unknown>>) => T) {
  return async (state: Readonly<Record<string, unknown>>, step: TaskStep): Promise<T> => {
    await world.perform(keyOf(step));
    return give(state);
  };
}

/** The key of a step's record. */
export function keyOf({ path, attempt }: Pick<TaskStep, 'path' | 'attempt'>): string {
  return attemptAddress(path, attempt);
}

/** What a model says: given the prompt, how many turns came before, and what of a supervised step it is asked for. */
export type Say = (prompt: string, turn: number, phase?: string) => readonly Said[] | string;

/** What an agent gives that was corrected. */
export const SECOND = 'the second draft';

/** A model is asked for a corrected attempt, or what it says of one. */
function isSecond(prompt: string): boolean {
  return prompt.includes('<correction') || prompt.includes(SECOND);
}

/** A call of a tool. */
export interface Said {
  readonly tool: string;
  readonly input: object;
}

/** A model that performs an effect for each call that it is asked for. */
export function worldModel(world: World, say: Say = (prompt) => `re ${shortDigest(prompt)}`): Model {
  return {
    id: 'world/one',
    async *stream({ messages, caller }): AsyncGenerator<ModelPart> {
      const prompt = promptOf(messages);
      const { path, turn, phase } = caller;
      await world.perform(`${path}${isSecond(prompt) ? '~2' : ''}@${callName(turn, phase, prompt)}`);
      const said = say(prompt, turn, phase);
      if (typeof said === 'string') yield { type: 'text', text: said };
      else {
        for (const [at, { tool, input }] of said.entries()) {
          const call = { id: `c${caller.turn}.${at + 1}`, name: tool, input: JSON.stringify(input) };
          yield { type: 'tool-call', call };
        }
      }
      const reason = typeof said === 'string' ? 'stop' : 'tool-calls';
      yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

/** As it is recorded. A model that looks at a call of a tool is shown its input, in which stands where it is. */
function callName(turn: number, phase: string | undefined, prompt: string): string {
  if (phase !== 'screen' && phase !== 'review') return phase ?? `model#${turn}`;
  return `${phase}#${/"at": "([\d.]+)"/.exec(prompt)?.[1] ?? '1.1'}`;
}

function promptOf(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  return last?.role === 'user' ? last.text : '';
}

/** Twelve digits that stand for a text. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Options for agents that talk to the model of the world, with the built-in tools and one that sends. */
export function worldAgents(world: World, say?: Say, security?: Security): Pick<RunOptions, 'models' | 'executors'> {
  const providers = { world: () => worldModel(world, say) };
  const models = { env: {}, noProbe: true, providers, override: 'world/one' };
  const tools = withSend(world, createToolProvider({ cwd: world.cwd, env: { PATH: process.env['PATH'] ?? '' } }));
  const registry = createModelRegistry({ ...models, cwd: world.cwd });
  const agent = agentExecutor({ models: registry, tools, cwd: world.cwd, security: () => security });
  return { models, executors: { agent } };
}

function withSend(world: World, tools: ToolProvider): ToolProvider {
  const send: Tool = {
    name: 'send',
    description: 'Sends a message, which cannot be taken back.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effect: 'once',
    trust: 'trusted',
    async execute(_input, { place }: CallIo) {
      const key = place.slice(place.indexOf('/') + 1);
      world.receive(key);
      await world.perform(key);
      return 'sent';
    },
  };
  return {
    async open(spec, session) {
      const source = await tools.open(spec, session);
      return { tools: [...source.tools, send], close: () => source.close() };
    },
  };
}
