import { describe, expect, it } from 'vitest';
import { flow, load, nodeOf } from './project.js';

const step = (keys: string): string => flow(`  - {id: s, agent: a, prompt: p${keys === '' ? '' : `, ${keys}`}}\n`);

describe('when a step fails', () => {
  it.each([
    ['', 'fail', undefined],
    ['on_error: fail', 'fail', undefined],
    ['on_error: continue', 'continue', undefined],
    ['on_error: skip', 'skipDependents', undefined],
    ['retry_count: 3', 'fail', { retries: 3, backoff: 'linear', delayMs: 500 }],
    ['retry_count: 0', 'fail', undefined],
    ['on_error: continue, retry_count: 1', 'continue', { retries: 1, backoff: 'linear', delayMs: 500 }],
    ['on_error: retry', 'fail', { retries: 1, backoff: 'linear', delayMs: 500, on: 'any' }],
    ['on_error: retry, retry_count: 4', 'fail', { retries: 4, backoff: 'linear', delayMs: 500, on: 'any' }],
    ['on_error: retry, retry_count: 0', 'fail', undefined],
  ])('32, decision 3: {%s} is %s', async (keys, onError, retry) => {
    const node = nodeOf(await load(step(keys)), 's');
    expect(node.onError).toBe(onError);
    expect(node.retry).toEqual(retry);
  });

  it.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['"10m"', 600_000],
    ['250ms', 250],
  ])('33: timeout: %s is %d ms for each attempt', async (written, ms) => {
    expect(nodeOf(await load(step(`timeout: ${written}`)), 's').timeoutMs).toBe(ms);
  });

  it('29: a step runs once what it depends on has ended, skipped or not', async () => {
    expect(nodeOf(await load(step('')), 's').join).toBe('settled');
  });
});

describe('settings that several places give', () => {
  const models = async (stepModel: string, agentModel: string, configModel: string): Promise<readonly string[]> => {
    const line = (model: string): string => (model === '' ? '' : `, model: ${model}`);
    const workflow = await load(
      `name: t
config: {${configModel === '' ? '' : `model: ${configModel}`}}
agents: {a: {inline: {prompt: p${line(agentModel)}}}}
steps: [{id: s, agent: a, prompt: p${line(stepModel)}}]
`,
    );
    expect(workflow.problems).toEqual([]);
    return nodeOf(workflow, 's').agent.models;
  };

  it.each([
    ['s', 'a', 'c', ['s', 'a', 'c']],
    ['', 'a', 'c', ['a', 'c']],
    ['', '', 'c', ['c']],
    ['', '', '', []],
    ['s', '[a1, a2]', 'c', ['s', 'a1', 'a2', 'c']],
    ['c', '[a, c]', 'a', ['c', 'a']],
    ['', '', '[c1, c2]', ['c1', 'c2']],
  ])('59, 92: model of step %j, agent %j, config %j', async (ofStep, ofAgent, ofConfig, expected) => {
    expect(await models(ofStep, ofAgent, ofConfig)).toEqual(expected);
  });

  it.each([
    ['true', 'false', false, true],
    ['false', 'true', true, undefined],
    ['', 'true', false, true],
    ['', 'false', true, undefined],
    ['', '', true, true],
    ['', '', false, undefined],
  ])('66: interactive of step %j, config %j, flag %j', async (ofStep, ofConfig, flag, expected) => {
    const config = ofConfig === '' ? '' : `config: {interactive: ${ofConfig}}\n`;
    const keys = ofStep === '' ? '' : `, interactive: ${ofStep}`;
    const workflow = await load(flow(`  - {id: s, agent: a, prompt: p${keys}}\n`, config), {}, { interactive: flag });
    expect(nodeOf(workflow, 's').agent.interactive).toBe(expected);
  });

  it.each([
    ['{base_url: "http://x"}', 'provider'],
    ['{type: opnai}', 'unknown-value'],
    ['{type: openai, base_url: "ftp://x"}', 'provider'],
    ['{type: openai, api_key: x}', 'unknown-key'],
  ])('62: the provider %s is a problem', async (written, code) => {
    const workflow = await load(flow('  - {id: s, agent: a, prompt: p}\n', `config: {provider: ${written}}\n`));
    expect(workflow.problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('62: a key that is written where its name belongs is not repeated in the message', async () => {
    const workflow = await load(
      flow('  - {id: s, agent: a, prompt: p}\n', 'config: {provider: {type: openai, api_key_env: sk-TOPSECRET}}\n'),
    );
    expect(workflow.problems.map((problem) => problem.code)).toEqual(['provider']);
    expect(JSON.stringify(workflow.problems)).not.toContain('TOPSECRET');
  });

  it.each([
    ['{inject_into_prompt: true}', undefined, ['no-effect']],
    ['{enabled: false, inject_into_prompt: true}', undefined, []],
    ['{enabled: true}', { inject: false }, []],
    ['{enabled: true, inject_into_prompt: true}', { inject: true }, []],
  ])('98: shared_memory: %s', async (written, memory, codes) => {
    const workflow = await load(flow('  - {id: s, agent: a, prompt: p}\n', `config: {shared_memory: ${written}}\n`));
    expect(nodeOf(workflow, 's').agent.memory).toEqual(memory);
    expect(workflow.settings.memory).toEqual(memory === undefined ? undefined : { initial: '' });
    expect(workflow.problems.map((problem) => problem.code)).toEqual(codes);
  });
});
