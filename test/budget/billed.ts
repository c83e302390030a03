import type { Model, ModelRequest } from '../../src/agent/model.js';
import type { ModelRegistryOptions } from '../../src/agent/models/registry-options.js';
import type { Usage } from '../../src/events/event.js';

/** Dollars for a million tokens of the models of {@link billing}: a call of 1,000 tokens in and 100 out costs $0.002. */
export const PRICES = { models: { 'own/*': { input: 1, output: 10 }, 'own/cheap': { input: 0.01, output: 0.01 } } };

/** What a model answers, or the calls of tools that it makes. */
export type Said = string | { readonly calls: readonly (readonly [name: string, input: object])[] };

/** Models `own/NAME` that bill, and what they billed. */
export interface Billing {
  readonly models: Partial<ModelRegistryOptions>;
  /** Last message of the user, with the name of the model. */
  readonly asked: string[];
  readonly billed: Usage[];
  /** Most calls that were under way together. */
  most: number;
}

interface How {
  readonly usage?: Usage | undefined;
  readonly say?: (request: ModelRequest, name: string) => Said | Promise<Said>;
}

const USAGE: Usage = { inputTokens: 1_000, outputTokens: 100 };

/** Each call takes some turns of the event loop. */
export function billing({ say = () => 'done', ...how }: How = {}): Billing {
  const usage = 'usage' in how ? how.usage : USAGE;
  let open = 0;
  const own = (name: string): Model => ({
    id: `own/${name}`,
    async *stream(request) {
      open += 1;
      all.most = Math.max(all.most, open);
      const last = request.messages.findLast((message) => message.role === 'user');
      all.asked.push(`${name}: ${last?.role === 'user' ? last.text : ''}`);
      all.billed.push(usage ?? USAGE);
      for (let turn = 0; turn < 3; turn += 1) await new Promise((next) => setImmediate(next));
      const said = await say(request, name);
      open -= 1;
      const { calls = [] } = typeof said === 'string' ? {} : said;
      if (typeof said === 'string') yield { type: 'text', text: said };
      for (const [at, [tool, input]] of calls.entries())
        yield {
          type: 'tool-call',
          call: { id: `c${request.caller.turn}.${at}`, name: tool, input: JSON.stringify(input) },
        };
      yield {
        type: 'finish',
        reason: calls.length > 0 ? 'tool-calls' : 'stop',
        ...(usage === undefined ? {} : { usage }),
      } as never;
    },
  });
  const all: Billing = { models: { env: {}, noProbe: true, providers: { own } }, asked: [], billed: [], most: 0 };
  return all;
}

/** Dollars of all that was billed, at {@link PRICES}. */
export function dollars({ billed }: Billing): number {
  return billed.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens * 10, 0) / 1e6;
}
