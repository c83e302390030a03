import { memoryStore, run } from 'skein';
import { loadDagText } from 'skein/yaml';
import { expect, it } from 'vitest';
import { FakeProvider } from './support/fake-provider.js';

const FLOW = `name: two
config: { model: openai-compatible/m }
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: one, agent: writer, timeout: 1s, on_error: continue, prompt: One. }
  - { id: two, agent: writer, timeout: 1s, retry_count: 1, prompt: Two. }
`;

it('an attempt that waited for its turn at the provider and then took too long is over: a resume makes no call of it', async () => {
  const stall = { stall: 'All is' };
  await using provider = await FakeProvider.start(stall, stall, { text: 'Two, at last.' }, { text: 'One, at last.' });
  const workflow = await loadDagText(FLOW);
  const store = memoryStore();
  const models = { env: provider.env };
  const limits = { 'openai-compatible': { concurrency: 1 } };
  const first = await run(workflow, { store, models, limits }).result;
  expect(first).toMatchObject({ outcome: 'degraded', state: { 'steps.two.output': 'Two, at last.' } });
  expect(provider.requests).toHaveLength(3);

  const again = await run(workflow, { store, models, limits, resume: first.runId }).result;
  expect(again).toMatchObject({ outcome: 'succeeded', state: { 'steps.one.output': 'One, at last.' } });
  expect(provider.requests).toHaveLength(4);
});
