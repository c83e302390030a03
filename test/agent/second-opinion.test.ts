import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickTime } from '../quick-time.js';
import { errorOf, outputOf, runAgent, tool } from './support/run-agent.js';

quickTime();

/** The wire formats once more, as somebody else wrote them down. */
describe('against aimock', () => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());

  const env = () => ({
    OPENAI_BASE_URL: `${mock.url}/v1`,
    OPENAI_API_KEY: 'k',
    ANTHROPIC_BASE_URL: mock.url,
    ANTHROPIC_API_KEY: 'k',
  });

  it.each(['openai/gpt-4o', 'anthropic/claude-sonnet-4-5'])('%s streams and runs the tool loop', async (model) => {
    mock.resetMatchCounts();
    mock.clearFixtures();
    mock.on({ userMessage: 'Review', hasToolResult: true }, { content: 'The file is fine.' });
    mock.on({ userMessage: 'Review' }, { toolCalls: [{ name: 'look', arguments: '{"path":"a.ts"}' }] });
    const { result, step } = await runAgent({
      spec: { models: [model] },
      models: { env: env() },
      tools: [tool('look', (input) => `content of ${input['path'] as string}`)],
    });
    expect(outputOf(result)).toBe('The file is fine.');
    expect(step.of('tool.ended')[0]).toMatchObject({ status: 'ok', output: 'content of a.ts' });
  });

  it.each(['openai/gpt-4o', 'anthropic/claude-sonnet-4-5'])('%s reports 429 as overloaded', async (model) => {
    mock.clearFixtures();
    mock.on({ userMessage: 'Review' }, { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429 });
    const { result, step } = await runAgent({ spec: { models: [model] }, models: { env: env() } });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_MODEL_OVERLOADED', retryable: true });
    expect(step.sleeps).toHaveLength(2);
  });
});
