import type { Definition } from '../../../src/plan/builder-input.js';
import type { ModelPart, ModelRequest } from '../../../src/agent/model.js';
import type { RunOptions } from '../../../src/runtime.js';
import { run } from '../../../src/runtime.js';
import type { Store } from '../../../src/journal/store.js';
import { definePlan } from '../../../src/plan/builder.js';

/** A definition of which this many tasks write their own names, one after the other. */
export function chain(...ids: readonly string[]): Definition {
  return definePlan({
    name: 'chain',
    nodes: ids.map((id) => ({ id, output: id, run: () => `${id} done` })),
    edges: [ids],
  });
}

/** Two tasks around a question. */
export const ASKING = definePlan({
  name: 'asking',
  nodes: [
    { id: 'draft', output: 'draft', run: () => 'a text' },
    { id: 'publish', kind: 'ask', question: 'Publish {{ draft }}?', choices: ['yes', 'no'], output: 'verdict' },
    { id: 'end', output: 'end', run: () => 'over' },
  ],
  edges: [['draft', 'publish', 'end']],
});

/** Runs it on the store; gives its id and outcome. */
export async function record(
  store: Store,
  workflow: Definition,
  options: Partial<RunOptions> = {},
): Promise<{ readonly id: string; readonly outcome: string }> {
  const { runId, outcome } = await run(workflow, { ...options, store }).result;
  return { id: runId, outcome };
}

/** A model that calls the tool of its agent once and then answers, with known counts of tokens. */
export function lookingModel(): { readonly id: string; stream(request: ModelRequest): AsyncIterable<ModelPart> } {
  return {
    id: 'test/looker',
    async *stream({ messages }) {
      await Promise.resolve();
      const looked = messages.some((message) => message.role === 'tool');
      if (looked) yield { type: 'text', text: 'all is well' };
      else yield { type: 'tool-call', call: { id: 'c1', name: 'list_dir', input: '{"path":"."}' } };
      const reason = looked ? 'stop' : 'tool-calls';
      yield { type: 'finish', reason, usage: { inputTokens: looked ? 200 : 100, outputTokens: 10 } };
    },
  };
}
