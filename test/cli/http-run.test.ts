import { describe, expect, test } from 'vitest';
import { FakeProvider } from '../agent/support/fake-provider.js';
import { CHAIN, documentOf, makeProject, runFolder } from './support/skein.js';
import { served } from './support/served.js';

const KEY = 'sk-test-0123456789abcdef';
const READING = CHAIN.replace('tools: []', 'tools: [read_file]');

describe('a run against an HTTP server on loopback', () => {
  test('streaming, tools and usage arrive, and the record has them; the key is in no file and on no screen', async () => {
    await using server = await FakeProvider.start(
      { calls: [{ id: 'c1', name: 'read_file', input: '{"path":"notes.txt"}' }], usage: { input: 20, output: 5 } },
      { text: `Looms\nweave with ${KEY}.`, usage: { input: 40, output: 6 } },
      { text: 'A text about looms.', usage: { input: 30, output: 8 } },
    );
    const cwd = await makeProject({ 'flow.yaml': READING, 'notes.txt': 'they weave cloth' });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.baseUrl };
    const end = await served(['run', 'flow.yaml', '--model', 'openai/test-model', '--json', '--stream', '--verbose'], {
      cwd,
      env,
    });
    expect(end.code).toBe(0);
    expect(documentOf(end)).toMatchObject({
      outcome: 'succeeded',
      usage: { inputTokens: 90, outputTokens: 19 },
      modelCalls: 3,
      models: [{ model: 'openai/test-model', calls: 3 }],
      toolCalls: 1,
      steps: { facts: { modelCalls: 2, toolCalls: 1 }, text: { output: 'A text about looms.' } },
    });
    expect(server.requests.map((request) => request.url)).toEqual(Array(3).fill('/v1/chat/completions'));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('they weave cloth');
    expect(end.stderr).toContain('facts │ Looms\n');
    expect(end.stderr).toContain('[facts] calls read_file {"path":"notes.txt"}');

    const folder = await runFolder(cwd);
    expect(JSON.parse(folder.get('workflow.meta.json') ?? '')).toMatchObject({
      usage: { input_tokens: 90, output_tokens: 19 },
    });
    expect(JSON.parse(folder.get('steps/00_facts/step.meta.json') ?? '')).toMatchObject({ model: 'openai/test-model' });
    expect(folder.get('steps/00_facts/stream.jsonl')).toContain('read_file');
    for (const [name, text] of folder) expect(text, name).not.toContain(KEY);
  });

  test('a server that always fails: a step failed, exit 3, and the error says so', async () => {
    await using server = await FakeProvider.start({ status: 400, body: { error: { message: 'no such thing' } } });
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: server.baseUrl };
    const end = await served(['run', 'flow.yaml', '--model', 'openai/test-model', '--no-audit'], { cwd, env });
    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/error SKEIN_MODEL_REFUSED in step facts \(agent writer\): .*no such thing/);
    expect(server.requests).toHaveLength(1);
  });
});
