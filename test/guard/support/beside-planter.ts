import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from 'skein';
import type { RunOptions, Store, WrittenFiles } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { ToolDefinition, UpdateNodeOptions } from 'skein/graph';
import type { Model, ModelRequest } from '../../../src/agent/model.js';
import type { Said } from '../../graph/support-agents.js';
import { ownModels } from '../../graph/support-agents.js';
import { inTurns } from './planted-run.js';

const never = new Promise<never>(() => undefined);

/** The turn in which an agent leaves a trace in the project. */
export const COMMAND: Said = { calls: [['shell', { argv: ['touch', 'ran.txt'] }]] };

/** A promise, and what settles it. */
function moment(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach };
}

/** What happens in a process. */
export interface Course {
  readonly cwd: string;
  readonly files?: WrittenFiles;
  /** Whether the run inside is made, or its call never gets that far. */
  readonly plants: boolean;
  /** What the agent with a command does, turn by turn; after that it has decided. */
  readonly turns?: readonly ((request: ModelRequest) => Said | Promise<Said>)[];
  readonly tools?: readonly ToolDefinition[];
  readonly node?: UpdateNodeOptions<never>;
  /** Whether its model makes its calls itself, inside of one turn. */
  readonly dispatches?: boolean;
}

/** A model that makes its calls inside of one turn. */
function dispatching(model: Model): Model {
  return {
    ...model,
    async *stream(request) {
      for (let turn = 1, goesOn = true; goesOn; turn += 1) {
        goesOn = false;
        for await (const part of model.stream({ ...request, caller: { ...request.caller, turn } })) {
          if (part.type === 'tool-call') await request.dispatch(part.call);
          if (part.type === 'tool-call') goesOn = true;
          else if (part.type !== 'finish') yield part;
        }
      }
      yield { type: 'finish', reason: 'stop' };
    },
  };
}

/** A process in which an agent starts a run that plants a test and never sees its end, beside an agent that runs a command. */
export function processOf({
  cwd,
  files,
  plants,
  turns = [() => COMMAND],
  tools = [],
  node = {},
  dispatches = false,
}: Course) {
  const asked: string[] = [];
  const [planted, decided] = [moment(), moment()];
  const page = tool({ name: 'page', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'Plant a test.' });
  const inner = graph<{ task: string }>()
    .node('w', agentNode(agent({ name: 'w', model: 'own/w', tools: [page, 'write_file'] })))
    .setEntry('w');
  const start = tool({
    name: 'start',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    execute: async (_, step) => {
      if (!plants) return await never;
      await inner.runOrThrow({ task: 'Go.' }, step.runOptions);
      planted.reach();
      return await never;
    },
  });
  const { models, own } = ownModels({
    w: inTurns([{ calls: [['page', {}]] }, { calls: [['write_file', { path: 'a.test.js', content: 'x' }]] }, 'Done.']),
    a: inTurns([{ calls: [['start', {}]] }]),
    async b(request) {
      if (plants) await planted.reached;
      const turn = turns[request.caller.turn - 1];
      if (turn !== undefined) return await turn(request);
      decided.reach();
      return await never;
    },
  });
  const flow = graph<{ task: string }>({ commands: [['touch', 'ran.txt']] })
    .addNode('begin', () => ({}))
    .addNode('a', agentNode(agent({ name: 'a', model: 'own/a', tools: [start] }), { taskParam: 'task' }))
    .addNode(
      'b',
      agentNode(agent({ name: 'b', model: 'own/b', tools: ['shell', 'read_file', ...tools] }), { taskParam: 'task' }),
      node,
    )
    .addEdge('begin', 'a')
    .addEdge('begin', 'b')
    .setEntry('begin')
    .compile();
  const play = (store: Store, more: RunOptions) => {
    const handle = run(flow, {
      cwd,
      models: dispatches
        ? { ...models, providers: { own: (name) => (name === 'b' ? dispatching(own(name)) : own(name)) } }
        : models,
      store,
      ...(files === undefined ? {} : { writtenFiles: files }),
      answer: (_question, address) => {
        asked.push(address);
        return Promise.resolve(/ w ask:/.test(address) ? 'allow' : 'deny');
      },
      ...more,
    });
    onTestFinished(() => handle.cancel());
    return handle;
  };
  return { play, asked, decided: decided.reached };
}

/** A folder of its own. */
export function project(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-denied-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  return cwd;
}
