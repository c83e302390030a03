import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelRegistryOptions } from '../../src/agent/models/registry-options.js';
import { createModelRegistry } from '../../src/agent/models/registry.js';
import { createSharedMemory } from '../../src/agent/memory.js';
import { SkeinError } from '../../src/base/errors.js';
import type { Reply } from './support/fake-provider.js';
import { FakeProvider } from './support/fake-provider.js';
import type { AgentRunOptions } from './support/run-agent.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-recording-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const KEY = 'sk-secret-of-the-recording';
const LOOK = tool('look', () => 'seen at 2026-01-02T03:04:05Z');
const TURNS: readonly Reply[] = [
  { text: 'Looking.', calls: [{ id: 'random-id-1', name: 'look', input: '{"path":"a"}' }] },
  { text: 'All is well.', usage: { input: 20, output: 4 } },
];

function replay(file: string, more: Partial<ModelRegistryOptions> = {}) {
  return createModelRegistry({ env: {}, replay: file, cwd: folder, noProbe: true, ...more });
}

/** Records the runs that are given, against a server that answers each call with the next reply. */
async function record(
  file: string,
  replies: readonly Reply[],
  ...runs: Partial<AgentRunOptions>[]
): Promise<FakeProvider> {
  const provider = await FakeProvider.start(...replies);
  const env = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: KEY };
  const registry = createModelRegistry({ env, record: file, cwd: folder });
  for (const run of runs)
    outputOf((await runAgent({ registry, spec: { models: ['openai/m'] }, tools: [LOOK], ...run })).result);
  await registry.finish();
  await provider[Symbol.asyncDispose]();
  return provider;
}

describe('a recording', () => {
  it('answers the same run without a call upstream, with tool calls and counts', async () => {
    await record('loop.jsonl', TURNS, {});
    const { result, step } = await runAgent({
      registry: replay('loop.jsonl'),
      spec: { models: ['openai/m'] },
      tools: [LOOK],
    });
    expect(outputOf(result)).toBe('All is well.');
    expect(step.of('tool.ended')[0]?.output).toContain('seen');
    expect(step.of('model.ended')[1]).toMatchObject({ model: 'openai/m', usage: { inputTokens: 20, outputTokens: 4 } });
  });

  it('holds no key, no id of the provider and no time; nothing is left beside it', async () => {
    await record('clean.jsonl', TURNS, {});
    const text = await readFile(join(folder, 'clean.jsonl'), 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(3);
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('random-id-1');
    expect(text).not.toMatch(/\d{4}-\d\d-\d\dT\d\d:/);
    expect((await readdir(folder)).filter((name) => name.includes('.tmp'))).toEqual([]);
  });

  it('answers other times, other ids and other marks as the same call', async () => {
    const spec = { models: ['openai/m'], skills: [{ name: 's', text: 'Be brief.' }], memory: { inject: true } };
    const run = { spec, seed: 1, memory: createSharedMemory('[2026-01-01T00:00:00Z] [a] note') };
    await record('marks.jsonl', [{ text: 'Fine.' }], run);
    const memory = createSharedMemory('[2026-11-11T11:11:11.111Z] [a] note');
    const again = await runAgent({ registry: replay('marks.jsonl'), spec, seed: 99, memory, tools: [LOOK] });
    expect(outputOf(again.result)).toBe('Fine.');
  });

  it('keeps equal calls in their order, those of the same step first', async () => {
    const replies = ['one', 'two', 'three'].map((text) => ({ text }));
    await record('same.jsonl', replies, { path: 'a' }, { path: 'b' }, { path: 'a' });
    const registry = replay('same.jsonl');
    const answers: unknown[] = [];
    for (const path of ['b', 'a', 'a']) {
      const { result } = await runAgent({ registry, path, spec: { models: ['openai/m'] }, tools: [LOOK] });
      answers.push(outputOf(result));
    }
    expect(answers).toEqual(['two', 'one', 'three']);
    const { result } = await runAgent({ registry, path: 'a', spec: { models: ['openai/m'] }, tools: [LOOK] });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_REPLAY_MISS' });
    expect(errorOf(result).message).toContain('3 times, and it is made once more');
  });

  it('knows its models when none is named', async () => {
    await record('unnamed.jsonl', [{ text: 'Fine.' }], {});
    const { result } = await runAgent({ registry: replay('unnamed.jsonl'), spec: { models: [] }, tools: [LOOK] });
    expect(outputOf(result)).toBe('Fine.');
  });

  it('replays what a fallback model answered', async () => {
    const spec = { models: ['openai/gone', 'openai/m'] };
    await record('fallback.jsonl', [{ status: 404 }, { text: 'From m.' }], { spec });
    const { result, step } = await runAgent({ registry: replay('fallback.jsonl'), spec, tools: [LOOK] });
    expect(outputOf(result)).toBe('From m.');
    expect(step.of('model.ended')[0]?.model).toBe('openai/m');
  });

  it('replays a model that failed in one step and answered in another', async () => {
    const spec = { models: ['openai/a', 'openai/b'] };
    const replies = [{ text: 'From a.' }, { status: 404 }, { text: 'From b.' }];
    await record('both.jsonl', replies, { spec, prompt: 'One.' }, { spec, prompt: 'Two.' });
    const { result, step } = await runAgent({ registry: replay('both.jsonl'), spec, prompt: 'Two.', tools: [LOOK] });
    expect(outputOf(result)).toBe('From b.');
    expect(step.of('model.fallback')[0]?.error.code).toBe('SKEIN_REPLAY_MISS');
  });

  it('works for structured output of a provider that takes no schema', async () => {
    await using provider = await FakeProvider.start({ text: '{"a":1}' });
    const spec = { models: ['openai-compatible/m'], output: { schema: { type: 'object' } } };
    const env = { OPENAI_COMPATIBLE_BASE_URL: provider.baseUrl };
    const registry = createModelRegistry({ env, record: 'schema.jsonl', cwd: folder });
    await runAgent({ registry, spec });
    await registry.finish();
    const { result } = await runAgent({ registry: replay('schema.jsonl'), spec });
    expect(outputOf(result)).toEqual({ a: 1 });
  });
});

describe('a call that was not recorded', () => {
  it('fails and shows the nearest one, with the line that differs', async () => {
    const prompt = 'Review the change.\nBe strict.';
    await record('miss.jsonl', [{ text: 'a' }, { text: 'b' }], { prompt }, { prompt: 'Translate this.' });
    const { result } = await runAgent({
      registry: replay('miss.jsonl'),
      spec: { models: ['openai/m'] },
      prompt: 'Review the change.\nBe kind.',
      tools: [LOOK],
    });
    const { code, message } = errorOf(result);
    expect(code).toBe('SKEIN_REPLAY_MISS');
    expect(message).toContain('message 2 (user), line 2:\n    recorded: Be strict.\n    asked:    Be kind.');
    expect(message).not.toContain('Translate');
  });

  it('shows other tools, settings and models as well', async () => {
    await record('other.jsonl', [{ text: 'a' }], {});
    const { result } = await runAgent({
      registry: replay('other.jsonl'),
      spec: { models: ['openai/other'], settings: { temperature: 0 } },
      tools: [tool('grep', () => 'x')],
    });
    const { message } = errorOf(result);
    expect(message).toContain('model: recorded openai/m, asked openai/other');
    expect(message).toContain('tools: recorded look, asked grep');
    expect(message).toContain('settings: recorded {}, asked {"temperature":0}');
  });
});

describe('a recording file', () => {
  it('that can not be written leaves the old one as it was', async () => {
    const file = join(folder, 'no-such-folder', 'x.jsonl');
    await expect(createModelRegistry({ env: {}, record: file }).finish()).rejects.toMatchObject({ code: 'SKEIN_FILE' });
  });

  it.each([
    ['not json', /1: the recording is damaged/],
    ['{"skein":"other"}', /is not a Skein recording/],
    ['', /is not a Skein recording/],
    ['{"skein":"recording","format":1}\n{"key":1}', /2: the recording is damaged/],
    ['{"skein":"recording","format":1}\n{"key":"a","cal', /2: the recording is damaged/],
  ])('with %j is refused with its place', async (text, message) => {
    await writeFile(join(folder, 'bad.jsonl'), text);
    const { result } = await runAgent({ registry: replay('bad.jsonl'), spec: { models: ['openai/m'] } });
    expect(errorOf(result).code).toBe('SKEIN_FILE');
    expect(errorOf(result).message).toMatch(message);
  });

  it('that is missing is an error of the file', async () => {
    const models = replay('none.jsonl');
    const failed = models.resolve({ name: 'a', instructions: [], models: [] }, { path: 'a', agent: 'a' });
    await expect(failed).rejects.toSatisfy((error) => SkeinError.isInstance(error) && error.code === 'SKEIN_FILE');
  });
});
