import type { FinishReason, Model, ModelRequest } from '../../src/agent/model.js';
import type { ModelRegistryOptions } from '../../src/agent/models/registry-options.js';

/** What a model answers: a text, or tool calls. */
export type Said =
  string | { readonly text?: string; readonly calls: readonly (readonly [name: string, input: object])[] };

/** Models `own/NAME` that answer with a function of what they are asked, and what they were asked. */
export interface OwnModels {
  readonly models: Partial<ModelRegistryOptions>;
  /** `NAME: last message of the user`, for each call. */
  readonly asked: string[];
  readonly requests: ModelRequest[];
  /** One of them. */
  readonly own: (name: string) => Model;
}

/** The prompt of a request: the last thing that the user said. */
export function promptOf(request: ModelRequest): string {
  const message = request.messages.findLast((each) => each.role === 'user');
  return message?.role === 'user' ? message.text : '';
}

/** The results of tools that a request holds. */
export function resultsIn(request: ModelRequest): string[] {
  return request.messages.flatMap((each) => (each.role === 'tool' ? each.results.map(({ output }) => output) : []));
}

export function ownModels(
  answers: Readonly<Record<string, (request: ModelRequest) => Said | Promise<Said>>>,
): OwnModels {
  const asked: string[] = [];
  const requests: ModelRequest[] = [];
  const own = (name: string): Model => ({
    id: `own/${name}`,
    structuredOutput: true,
    async *stream(request) {
      asked.push(`${name}: ${promptOf(request)}`);
      requests.push(request);
      const said = await answers[name]?.(request);
      if (said === undefined) throw new Error(`nobody planned a call of own/${name}`);
      const { text = '', calls = [] } = typeof said === 'string' ? { text: said } : said;
      if (text !== '') yield { type: 'text', text };
      for (const [at, [tool, input]] of calls.entries())
        yield {
          type: 'tool-call',
          call: { id: `c${request.caller.turn}.${at}`, name: tool, input: JSON.stringify(input) },
        };
      const reason: FinishReason = calls.length > 0 ? 'tool-calls' : 'stop';
      yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  return { models: { env: {}, noProbe: true, providers: { own } }, asked, requests, own };
}
