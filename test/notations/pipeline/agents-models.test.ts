import { describe, expect, it } from 'vitest';
import { agentOf, agentsOf } from './agents-support.js';

const SECTIONS = `models:
  fast: {provider: openai, model: gpt-5-mini, temperature: 0.5, top_p: 0.9, max_tokens: 100, seed: 7}
  plain: {provider: anthropic, model: claude-sonnet-5}
  whole: {model: groq/llama}
  near: {provider: openai, model: m, base_url: "http://127.0.0.1:9/v1", token_key: NEAR_KEY}
  gate: {provider: gateway, model: team/m}
  runner: {provider: dmr, model: ai/qwen, base_url: "http://127.0.0.1:12434/v1"}
  mine: {provider: own, model: m}
providers:
  gateway: {api_type: openai_chatcompletions, base_url: "https://gate.example/v1", token_key: GATE_KEY}
  europe: {provider: anthropic, base_url: "https://eu.example"}
  own: {}
`;

const chosen = (agent: string) => {
  const { models, settings, provider } = agentOf(`${SECTIONS}agents: {root: {${agent}}}`);
  return { models, settings, provider };
};
const FAST = { temperature: 0.5, topP: 0.9, maxOutputTokens: 100, seed: 7 };
const GATE = { type: 'openai-compatible', baseUrl: 'https://gate.example/v1', apiKeyEnv: 'GATE_KEY' };

describe('the models of an agent', () => {
  it.each([
    ['model: fast', { models: ['openai/gpt-5-mini'], settings: FAST }],
    ['model: plain', { models: ['anthropic/claude-sonnet-5'] }],
    ['model: whole', { models: ['groq/llama'] }],
    ['model: openai/gpt-4o', { models: ['openai/gpt-4o'] }],
    ['model: OpenAI/gpt-4o', { models: ['openai/gpt-4o'] }],
    ['model: auto', { models: [] }],
    [
      'model: plain, fallback: {models: [openai/a, groq/b]}',
      { models: ['anthropic/claude-sonnet-5', 'openai/a', 'groq/b'] },
    ],
    [
      'model: fast, fallback: {models: [plain]}',
      { models: ['openai/gpt-5-mini', 'anthropic/claude-sonnet-5'], settings: FAST },
    ],
  ])('%s', (agent, expected) => {
    expect(chosen(agent)).toEqual({ settings: undefined, provider: undefined, ...expected });
  });

  it.each([
    ['model: near', ['openai/m'], { type: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKeyEnv: 'NEAR_KEY' }],
    ['model: gate', ['openai-compatible/team/m'], GATE],
    ['model: gateway/other', ['openai-compatible/other'], GATE],
    [
      'model: gate, fallback: {models: [gateway/x, plain]}',
      ['openai-compatible/team/m', 'openai-compatible/x', 'anthropic/claude-sonnet-5'],
      GATE,
    ],
    ['model: plain, fallback: {models: [gate]}', ['anthropic/claude-sonnet-5', 'openai-compatible/team/m'], GATE],
    ['model: europe/claude', ['anthropic/claude'], { type: 'anthropic', baseUrl: 'https://eu.example' }],
    ['model: mine', ['own/m'], undefined],
  ])('%s is called where the file says', (agent, models, provider) => {
    expect(chosen(agent)).toMatchObject({ models, provider });
  });

  it('a provider of the other system is OpenAI-compatible at an address of its own', () => {
    const { agents, problems } = agentsOf(`${SECTIONS}agents: {root: {model: runner}}`);
    expect(agents.get('root')?.spec).toMatchObject({
      models: ['openai-compatible/ai/qwen'],
      provider: { type: 'openai-compatible', baseUrl: 'http://127.0.0.1:12434/v1' },
    });
    expect(problems).toEqual([]);
  });
});

describe('several models in one text', () => {
  it('[XP7] are tried in order, and a warning says that cagent draws one for each turn', () => {
    const { agents, problems } = agentsOf(`${SECTIONS}agents: {root: {model: "openai/a, plain,openai/a"}}`);
    expect(agents.get('root')?.spec.models).toEqual(['openai/a', 'anthropic/claude-sonnet-5']);
    expect(problems).toEqual([
      '13:24: warning model-order: agent "root" tries the models "openai/a, plain,openai/a" in order; for cagent they mean one at random for each turn (write one model, and the others under fallback: {models: [...]})',
    ]);
  });
});

describe('models that an agent cannot have together', () => {
  it.each([
    ['near', 'openai/x', 'openai/x'],
    ['openai/x', 'near', 'openai/m'],
    ['near', 'gate', 'openai-compatible/team/m'],
  ])('%s and %s: the second is left out, with a warning', (first, second, name) => {
    const { agents, problems } = agentsOf(
      `${SECTIONS}agents: {root: {model: ${first}, fallback: {models: [${second}]}}}`,
    );
    expect(agents.get('root')?.spec.models).toHaveLength(1);
    expect(problems).toEqual([
      expect.stringContaining(
        `warning not-supported: agent "root" can't use "${name}" together with its other models: they have another address (an agent has one base_url; make it two agents)`,
      ),
    ]);
  });

  it('settings of a model that is not the first are named', () => {
    const { agents, problems } = agentsOf(`${SECTIONS}agents: {root: {model: plain, fallback: {models: [fast]}}}`);
    expect(agents.get('root')?.spec).toMatchObject({ models: ['anthropic/claude-sonnet-5', 'openai/gpt-5-mini'] });
    expect(agents.get('root')?.spec.settings).toBeUndefined();
    expect(problems).toEqual([
      '13:51: warning not-supported: the settings of "openai/gpt-5-mini" are not used: agent "root" has those of its first model (give both models the same settings)',
    ]);
  });
});

describe('names that do not exist', () => {
  it.each([
    ['agents: {root: {model: fsat}}', '13:24: error unknown-model: there is no model "fsat" (did you mean "fast"?)'],
    [
      'agents: {root: {model: something}}',
      '13:24: error unknown-model: there is no model "something" (write provider/model, or declare the model under models)',
    ],
    [
      'agents: {root: {model: opnai/x}}',
      '13:24: warning unknown-provider: "opnai" is not a provider of Skein: the program that runs the file must have it (did you mean "openai"?)',
    ],
    [
      'agents: {root: {model: gatway/x}}',
      '13:24: warning unknown-provider: "gatway" is not a provider of Skein: the program that runs the file must have it (did you mean "gateway"?)',
    ],
    [
      'agents: {root: {model: openai/}}',
      '13:24: error unknown-model: there is no model "openai/" (write provider/model)',
    ],
    [
      'agents: {root: {fallback: {models: [plan]}}}',
      '13:37: error unknown-model: there is no model "plan" (did you mean "plain"?)',
    ],
    [
      'agents: {root: {toolsets: [{type: mcp, ref: hub}]}}',
      '13:45: error unknown-mcp: there is no MCP server "hub" under mcps (declare the server under mcps)',
    ],
    [
      'mcps: {hubs: {command: x}}\nagents: {root: {toolsets: [{type: mcp, ref: hub}]}}',
      '14:45: error unknown-mcp: there is no MCP server "hub" under mcps (did you mean "hubs"?)',
    ],
  ])('%s', (text, problem) => {
    expect(agentsOf(SECTIONS + text).problems).toEqual([problem]);
  });

  it('a model whose entry is wrong is told once, where it is wrong', () => {
    const text =
      'models: {a: {provider: openai}, b: {model: m}, c: {provider: x, model: m}}\nagents: {r: {model: a, fallback: {models: [b, c]}}}';
    expect(agentsOf(text).problems.map((problem) => problem.replace(/ \(.*/, ''))).toEqual([
      '1:10: error missing-model: model "a" needs a model',
      '1:33: error missing-model: model "b" needs a provider',
    ]);
  });

  it('a provider that only the other system has is named, and left to --model', () => {
    const { agents, problems } = agentsOf('agents: {root: {model: dmr/ai/qwen}}');
    expect(agents.get('root')?.spec.models).toEqual(['dmr/ai/qwen']);
    expect(problems).toEqual([
      '1:24: warning not-supported: the provider "dmr" is not supported (declare it under providers with its base_url, or run with --model)',
    ]);
  });
});
