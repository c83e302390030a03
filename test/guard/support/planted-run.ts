import type { GraphRunOptions, ToolDefinition } from 'skein/graph';
import { agent, tool } from 'skein/graph';
import type { ModelRequest } from '../../../src/agent/model.js';
import type { Said } from '../../graph/support-agents.js';
import { ownModels } from '../../graph/support-agents.js';

const ANYTHING = { type: 'object' } as const;

/** Whose words the page is made of. */
export type Author = 'the user' | 'anybody';

/** A world in which a model read a page, and another one sends something out, whatever it was asked. */
export class PlantedRun {
  /** Addresses of the questions of the guard. */
  readonly asked: string[] = [];
  /** What really went out. */
  readonly sent: unknown[] = [];
  readonly page: ToolDefinition;
  readonly send: ToolDefinition;
  private readonly own: ReturnType<typeof ownModels>;

  constructor(
    author: Author,
    readonly text: string,
    /** Other models, by what they answer. */
    answers: Parameters<typeof ownModels>[0] = {},
  ) {
    const trust = author === 'the user' ? ({ trust: 'trusted' } as const) : {};
    this.page = tool({ name: 'page', inputSchema: ANYTHING, effect: 'read', ...trust, execute: () => text });
    this.send = tool({ name: 'send', inputSchema: ANYTHING, execute: (input) => `sent ${this.sent.push(input)}` });
    this.own = ownModels({
      reader: inTurns([{ calls: [['page', {}]] }, text]),
      worker: inTurns([{ calls: [['send', {}]] }, 'Done.']),
      ...answers,
    });
  }

  /** An agent of this world with its model: `reader`, `worker` or one of the others. */
  agent(name: string, tools: readonly (string | ToolDefinition)[], more: object = {}): ReturnType<typeof agent> {
    return agent({ name, model: `own/${name}`, tools, ...more });
  }

  get reader(): ReturnType<typeof agent> {
    return this.agent('reader', [this.page]);
  }

  get worker(): ReturnType<typeof agent> {
    return this.agent('worker', [this.send]);
  }

  /** A person refuses what the guard asks, and answers anything else with its first choice. */
  options(more: GraphRunOptions = {}): GraphRunOptions {
    return {
      models: this.own.models,
      answer: (question, address) => {
        if (!address.includes('guard#')) return Promise.resolve(question.choices?.[0] ?? 'yes');
        this.asked.push(address);
        return Promise.resolve('deny');
      },
      ...more,
    };
  }
}

/** What a model answers, turn by turn; nothing more in later ones. */
export function inTurns(turns: readonly Said[]): (request: ModelRequest) => Said {
  return ({ caller }) => turns[caller.turn - 1] ?? 'Done.';
}
