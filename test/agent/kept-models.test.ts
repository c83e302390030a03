import type * as Package from '@ai-sdk/openai-compatible';
import { afterEach, expect, test, vi } from 'vitest';
import { definePlan, run } from 'skein';
import { FakeProvider } from './support/fake-provider.js';

const made = vi.hoisted(() => ({ count: 0, fails: 0 }));

vi.mock('@ai-sdk/openai-compatible', async (importOriginal) => {
  const original = await importOriginal<typeof Package>();
  return {
    ...original,
    createOpenAICompatible: (settings: Parameters<typeof original.createOpenAICompatible>[0]) => {
      made.count += 1;
      if (made.count <= made.fails) throw new TypeError('not installed yet');
      return original.createOpenAICompatible(settings);
    },
  };
});

afterEach(() => {
  made.count = 0;
  made.fails = 0;
});

function asking(model: string): ReturnType<typeof definePlan> {
  return definePlan({
    name: 'ask',
    nodes: [{ id: 'ask', kind: 'agent', agent: { name: 'ask', models: [model] }, prompt: ['Hello?'], output: 'text' }],
  });
}

async function answers(provider: FakeProvider, model: string, key?: string): Promise<unknown> {
  const env = { OPENAI_BASE_URL: provider.baseUrl, ...(key === undefined ? {} : { OPENAI_API_KEY: key }) };
  const { state } = await run(asking(model), { models: { env } }).result;
  return state['text'];
}

test('[XF7] runs with the same provider, model, address and key share one model object, others have their own', async () => {
  const replies = Array.from({ length: 20 }, (_, at) => ({ text: `answer ${at}` }));
  await using provider = await FakeProvider.start(...replies);
  await using other = await FakeProvider.start({ text: 'elsewhere' });
  const texts: unknown[] = [];
  for (let at = 0; at < 10; at++) texts.push(await answers(provider, 'openai/one'));
  expect([made.count, texts]).toEqual([1, replies.slice(0, 10).map(({ text }) => text)]);

  await answers(provider, 'openai/two');
  expect(made.count).toBe(2);
  await answers(provider, 'openai/one', 'sk-of-somebody');
  expect(made.count).toBe(3);
  expect(await answers(other, 'openai/one')).toBe('elsewhere');
  expect(made.count).toBe(4);
  await answers(provider, 'openai/one', 'sk-of-somebody');
  expect(made.count).toBe(4);
  expect(provider.requests.at(-1)?.headers['authorization']).toBe('Bearer sk-of-somebody');
});

test('[XF7] a model that could not be made is made anew by the next run', async () => {
  made.fails = 1;
  await using provider = await FakeProvider.start({ text: 'there' });
  expect(await answers(provider, 'openai/late')).toBeUndefined();
  expect(await answers(provider, 'openai/late')).toBe('there');
});
