import { describe, expect, it } from 'vitest';
import type { AgentSpec } from '../../src/plan/agent-spec.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import type { Received, Reply } from './support/fake-provider.js';
import { FakeProvider } from './support/fake-provider.js';
import { outputOf, runAgent, tool } from './support/run-agent.js';

const LOOK = tool('look', () => 'seen');
const call = (n: number): Reply => ({
  text: 'Looking.',
  calls: [{ id: `c${n}`, name: 'look', input: '{"path":"a"}' }],
});
/** Six turns: five with a call of a tool. */
const TURNS: readonly Reply[] = [1, 2, 3, 4, 5].map(call).concat({ text: 'Done.' });

async function asked(
  model: string,
  spec: Partial<AgentSpec> = {},
  replies = TURNS,
  seed = 1,
): Promise<readonly Received[]> {
  await using server = await FakeProvider.start(...replies);
  const env = { ...server.env, XAI_API_KEY: 'key' };
  const provider = model.startsWith('xai/') ? { provider: { type: 'xai', baseUrl: server.baseUrl } } : {};
  const tools = replies.length > 1 ? [LOOK] : [];
  const { result } = await runAgent({ spec: { models: [model], ...provider, ...spec }, models: { env }, tools, seed });
  expect(outputOf(result)).toBe('Done.');
  return server.requests;
}

interface Block {
  readonly cache_control?: object;
}

/** Where marks stand in a request of Anthropic: `system`, and the numbers of messages. */
function marksOf({ body }: Received): readonly (string | number)[] {
  const isMarked = (blocks: unknown): boolean =>
    Array.isArray(blocks) && (blocks as Block[]).some((block) => block.cache_control !== undefined);
  const messages = body['messages'] as readonly { readonly content: unknown }[];
  const tools = JSON.stringify(body['tools'] ?? []).includes('cache_control') ? ['tools'] : [];
  const turns = messages.flatMap(({ content }, i) => (isMarked(content) ? [i] : []));
  return [...tools, ...(isMarked(body['system']) ? ['system'] : []), ...turns];
}

describe('[15] Anthropic is told to keep', () => {
  it('the system prompt, which covers the tools, and the last three turns: four marks, which move on', async () => {
    const requests = await asked('anthropic/claude-sonnet-5');
    expect(requests.map(marksOf)).toEqual([
      ['system', 0],
      ['system', 0, 2],
      ['system', 0, 2, 4],
      ['system', 2, 4, 6],
      ['system', 4, 6, 8],
      ['system', 6, 8, 10],
    ]);
    expect(JSON.stringify(requests[0]?.body)).toContain('"cache_control":{"type":"ephemeral"}');
  });

  it('no turn of an agent without tools, which says nothing more', async () => {
    expect((await asked('anthropic/claude-sonnet-5', {}, [{ text: 'Done.' }])).map(marksOf)).toEqual([['system']]);
  });

  it('for an hour what is marked, with cache: 1h', async () => {
    const requests = await asked('anthropic/claude-sonnet-5', { cache: '1h' });
    expect(requests.map(marksOf)[3]).toEqual(['system', 2, 4, 6]);
    const text = JSON.stringify(requests.map(({ body }) => body));
    expect(text).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
    expect(text).not.toContain('"cache_control":{"type":"ephemeral"}');
  });

  it('nothing with cache: off', async () => {
    const requests = await asked('anthropic/claude-sonnet-5', { cache: 'off' });
    expect(requests.map(marksOf)).toEqual(requests.map(() => []));
  });
});

describe('[15] OpenAI is told which requests begin alike', () => {
  const keys = (requests: readonly Received[]): readonly unknown[] => [
    ...new Set(requests.map(({ body }) => body['prompt_cache_key'])),
  ];

  it('by one key for an agent with the same tools and system prompt, in any step', async () => {
    const [first] = keys(await asked('openai/gpt-5-mini'));
    expect(first).toMatch(/^skein-[\w-]{10,58}$/);
    expect(keys(await asked('openai/gpt-5-mini', {}, TURNS, 2))).toEqual([first]);
    for (const other of [{ name: 'other' }, { instructions: ['You write.'] }])
      expect(keys(await asked('openai/gpt-5-mini', other))).not.toEqual([first]);
    expect(keys(await asked('openai/gpt-5-mini', {}, [{ text: 'Done.' }]))).not.toEqual([first]);
  });

  it('but not with cache: off, and no other server that is not known to understand it', async () => {
    expect(keys(await asked('openai/gpt-5-mini', { cache: 'off' }))).toEqual([undefined]);
    const requests = await asked('openai-compatible/local');
    expect(JSON.stringify(requests.map(({ body }) => body))).not.toMatch(/cache/i);
  });

  it('xAI by a header', async () => {
    const requests = await asked('xai/grok-4.7');
    expect(new Set(requests.map(({ headers }) => headers['x-grok-conv-id'])).size).toBe(1);
    expect(requests[0]?.headers['x-grok-conv-id']).toMatch(/^skein-/);
    expect(keys(requests)).toEqual([undefined]);
  });
});

describe('[15] prompts of an agent begin alike', () => {
  it('in all steps and runs, also with skills', async () => {
    const skills = [{ name: 's', text: 'Be brief.' }];
    const systems = await Promise.all(
      [1, 2].map(async (seed) => (await asked('openai/gpt-5-mini', { skills }, TURNS, seed))[0]?.body['messages']),
    );
    expect(JSON.stringify(systems[0])).toMatch(/skill-[0-9a-f]{32}/);
    expect(systems[0]).toEqual(systems[1]);
  });
});

it('[15] cache: off is in no identity: what was recorded with a cache holds without', async () => {
  const plan = (cache: Partial<AgentSpec>) =>
    definePlan({
      name: 'kept',
      nodes: [
        {
          id: 'look',
          kind: 'agent',
          prompt: 'Look',
          output: 'seen',
          agent: { models: ['anthropic/claude-x'], ...cache },
        },
      ],
    });
  const store = memoryStore();
  await using server = await FakeProvider.start({ text: 'Fine.' });
  const models = { env: { ANTHROPIC_BASE_URL: server.origin, ANTHROPIC_API_KEY: 'key' } };
  await run(plan({}), { store, runId: 'a', models }).result;
  const again = await run(plan({ cache: 'off' }), { store, runId: 'b', fork: { run: 'a' }, models }).result;
  expect(again).toMatchObject({ outcome: 'succeeded', state: { seen: 'Fine.' } });
  expect(server.requests).toHaveLength(1);
});
