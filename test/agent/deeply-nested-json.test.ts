import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { Model, ModelRequest } from '../../src/agent/model.js';
import { ownModels, resultsIn } from '../graph/support-agents.js';

/** `{"a":[[...]]}`, nested as deeply as models can make it. */
const DEEP = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
const schema = { type: 'object', properties: { a: {} } } as const;

/** A model that calls two tools, the first one with a text as its input. */
function calling(input: string, requests: ModelRequest[]): Model {
  return {
    id: 'own/m',
    structuredOutput: true,
    async *stream(request) {
      requests.push(request);
      const isFirst = request.caller.turn === 1;
      if (isFirst) {
        yield { type: 'tool-call', call: { id: 'c1', name: 'note', input } };
        yield { type: 'tool-call', call: { id: 'c2', name: 'look', input: '{}' } };
      } else yield { type: 'text', text: 'Done.' };
      yield {
        type: 'finish',
        reason: isFirst ? 'tool-calls' : 'stop',
        usage: { inputTokens: 1, outputTokens: await Promise.resolve(1) },
      };
    },
  };
}

it.each([
  ['in memory', {}],
  ['recorded', { store: memoryStore() }],
])('a call whose input is nested too deeply fails, and no other one, whatever looks at it (%s)', async (_, kept) => {
  const note = tool({ name: 'note', inputSchema: schema, execute: () => 'noted' });
  const look = tool({ name: 'look', inputSchema: schema, effect: 'read', execute: () => 'seen' });
  const rules = [{}, { approve: ['note'] }, { permissions: { deny: ['note:a=*x*'] } }];
  const runs = [{}, { untrusted: ['task'] }, { guards: [{ name: 'g', check: () => 'allow' as const }] }];
  for (const rule of rules)
    for (const options of runs) {
      const requests: ModelRequest[] = [];
      const providers = { own: () => calling(DEEP, requests) };
      const worker = agent({ name: 'a', model: 'own/m', tools: [note, look], ...rule });
      const { outcome, error } = await graph<{ task: string }>()
        .node('work', agentNode(worker))
        .run({ task: 'Go.' }, { models: { env: {}, noProbe: true, providers }, ...kept, ...options });
      expect([outcome, error]).toEqual(['succeeded', undefined]);
      const [told, seen] = requests.flatMap(resultsIn);
      expect(told).toBe('Error: the input of note is not JSON: values may be nested 500 levels deep at most');
      expect(seen).toBe('seen');
    }
});

it('an input that is nested deeply, but not too deeply, is shown to a person and recorded', async () => {
  const shown: unknown[] = [];
  const note = tool({ name: 'note', inputSchema: schema, execute: () => 'noted' });
  const deep = `{"a":${'['.repeat(499)}${']'.repeat(499)}}`;
  const requests: ModelRequest[] = [];
  const { outcome } = await graph<{ task: string }>()
    .node('work', agentNode(agent({ name: 'a', model: 'own/m', tools: [note], approve: ['note'] })))
    .run(
      { task: 'Go.' },
      {
        models: { env: {}, noProbe: true, providers: { own: () => calling(deep, requests) } },
        store: memoryStore(),
        answer: async ({ evidence }) => (shown.push(evidence) > 0 ? 'allow' : 'deny'),
      },
    );
  expect(outcome).toBe('succeeded');
  expect(shown).toEqual([{ tool: 'note', input: JSON.parse(deep) as unknown }]);
  expect(requests.flatMap(resultsIn)[0]).toBe('noted');
});

it('a structured answer that is nested too deeply is asked for again', async () => {
  const { models, requests } = ownModels({ m: ({ messages }) => (messages.length < 3 ? DEEP : '{"a":1}') });
  const { outcome, state } = await graph<{ task: string }>()
    .node('work', agentNode(agent({ name: 'a', model: 'own/m', output: { type: 'object' } })))
    .run({ task: 'Go.' }, { models, store: memoryStore() });
  expect([outcome, state.work, requests.length]).toEqual(['succeeded', { a: 1 }, 2]);
});
