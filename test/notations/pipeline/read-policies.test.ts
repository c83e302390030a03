import { describe, expect, it } from 'vitest';
import { stepsOf, told, wrong } from './read-pipeline.js';

const step = (keys: string): string => `  - {type: agent, name: a, ${keys}}\n`;
const first = (keys: string): unknown => stepsOf(step(keys))[0];

describe('retry', () => {
  const standard = { retries: 2, backoff: 'fixed', delayMs: 1_000, jitter: 0, on: undefined };

  it.each([
    ['max_attempts: 2', {}],
    ['retries: 2', {}],
    ['max_attempts: 2, backoff: fixed', {}],
    ['max_attempts: 2, backoff: exponential', { backoff: 'exponential' }],
    ['max_attempts: 2, initial_delay: 250ms', { delayMs: 250 }],
    ['max_attempts: 2, initial_delay: 3', { delayMs: 3_000 }],
    ['max_attempts: 2, initial_delay: 0', { delayMs: 0 }],
    ['max_attempts: 2, initial_delay_seconds: 0.5', { delayMs: 500 }],
    ['max_attempts: 2, jitter: 0.3', { jitter: 0.3 }],
    ['max_attempts: 2, jitter: true', { jitter: 0.1 }],
    ['max_attempts: 2, jitter: false', {}],
    [
      'max_attempts: 2, on: [timeout, " rate_limit ", "stack overflow"]',
      { on: ['timeout', 'rate_limit', 'stack overflow'] },
    ],
  ])('{%s}', (keys, expected) => {
    expect(first(`retry: {${keys}}`)).toMatchObject({ retry: { ...standard, ...expected } });
  });

  it.each(['max_attempts: 0', 'retries: 0'])('{%s} is no retry', (keys) => {
    expect(first(`retry: {${keys}}`)).toMatchObject({ retry: undefined });
  });

  it('stands on parallel, map and call steps too', () => {
    const retry = 'retry: {max_attempts: 1}, timeout: 5s, on_error: continue';
    const steps = stepsOf(`  - {type: parallel, steps: [{type: agent, name: a}], ${retry}}
  - {type: map, over: o, steps: [{type: agent, name: a}], ${retry}}
  - {type: call, file: f, ${retry}}
`);
    for (const one of steps)
      expect(one).toMatchObject({ retry: { retries: 1 }, timeoutMs: 5_000, onError: 'continue' });
  });

  it.each([
    ['max_attempts: -1', '5:50 error out-of-range'],
    ['max_attempts: 101', '5:50 error out-of-range'],
    ['max_attempts: two', '5:50 error wrong-type'],
    ['max_attempts: 1.5', '5:50 error wrong-type'],
    ['retries: []', '5:45 error wrong-type'],
    ['retries: 1, backoff: linear', '5:57 error unknown-value'],
    ['retries: 1, initial_delay: 5x', '5:63 error bad-duration'],
    ['retries: 1, initial_delay: -1', '5:63 error bad-duration'],
    ['retries: 1, initial_delay: 90d', '5:63 error bad-duration'],
    ['retries: 1, initial_delay_seconds: 1s', '5:71 error bad-retry'],
    ['retries: 1, initial_delay_seconds: -1', '5:71 error bad-retry'],
    ['retries: 1, initial_delay_seconds: [1]', '5:71 error bad-retry'],
    ['retries: 1, jitter: 2', '5:56 error bad-retry'],
    ['retries: 1, jitter: some', '5:56 error bad-retry'],
    ['retries: 1, on: timeout', '5:52 error wrong-type'],
    ['retries: 1, on: []', '5:52 error bad-retry'],
    ['retries: 1, on: [x, " "]', '5:56 error bad-retry'],
    ['retries: 1, on: [{}]', '5:53 error wrong-type'],
    ['max_attemps: 1, retries: 1', '5:36 error unknown-key'],
    ['on: [timeout]', '5:35 warning no-effect'],
    ['max_attempts: 1, retries: 2', '5:62 warning no-effect'],
    ['retries: 1, initial_delay: 1s, initial_delay_seconds: 2', '5:90 warning no-effect'],
  ])('{%s} is a problem', (keys, place) => {
    expect(wrong(step(`retry: {${keys}}`))).toEqual([place]);
  });

  it('a number alone is no retry', () => {
    expect(wrong(step('retry: 3'))).toEqual(['5:35 error wrong-type']);
    expect(told(step('retry: 3'))[0]).toContain('max_attempts');
  });
});

describe('timeout and on_error', () => {
  it.each([
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['90', 90_000],
    ['0.25', 250],
  ])('timeout: %s', (text, ms) => {
    expect(first(`timeout: ${text}`)).toMatchObject({ timeoutMs: ms });
  });

  it.each(['0', '-5', '"30"', 'soon', '0s', '25d', '.inf', 'true'])('timeout: %s is a problem', (text) => {
    expect(wrong(step(`timeout: ${text}`))).toEqual(['5:37 error bad-duration']);
  });

  it('a quoted number gets a hint at the unit', () => {
    expect(told(step('timeout: "30"'))).toEqual(['timeout of steps[0] is "30" (write 30s for seconds)']);
  });

  it('on_error is fail unless it says continue', () => {
    expect(first('on_error: fail')).toMatchObject({ onError: 'fail' });
    expect(first('on_error: continue')).toMatchObject({ onError: 'continue' });
    expect(first('prompt: p')).toMatchObject({ onError: 'fail' });
    expect(wrong(step('on_error: ignore'))).toEqual(['5:38 error unknown-value']);
  });
});

describe('map', () => {
  const map = (keys: string): string =>
    `  - {type: map, over: $steps.x.output, steps: [{type: agent, name: a}], ${keys}}\n`;

  it('has defaults', () => {
    expect(stepsOf(map('id: m'))[0]).toMatchObject({
      map: { over: { text: '$steps.x.output' }, as: 'item', maxItems: 100 },
      steps: [{ id: 'step_1' }],
    });
  });

  it('has keys of its own', () => {
    const keys = 'as: file, key: meta.path, max_items: 5, concurrency: 2, on_item_error: continue';
    expect(stepsOf(map(keys))[0]).toMatchObject({
      map: { as: 'file', key: ['meta', 'path'], maxItems: 5, concurrency: 2, onItemError: 'leaveOut' },
    });
  });

  it('ignores empty keys', () => {
    const [read] = stepsOf(map('as: "", key: ""'));
    expect(read).toMatchObject({ map: { as: 'item' } });
    expect(read).not.toHaveProperty('map.key');
  });

  it.each([
    ['as: steps', '5:77 error bad-name'],
    ['as: a-b', '5:77 error bad-name'],
    ['key: a..b', '5:78 error bad-path'],
    ['max_items: 0', '5:84 error out-of-range'],
    ['max_items: all', '5:84 error wrong-type'],
    ['concurrency: 0', '5:86 error out-of-range'],
    ['on_item_error: skip', '5:88 error unknown-value'],
  ])('%s is a problem', (keys, place) => {
    expect(wrong(map(keys))).toEqual([place]);
  });
});

describe('ask and call', () => {
  it('a question has choices or a schema, and a time', () => {
    const keys = 'choices: [yes, no, yes], expires: 24h, on_expire: {answer: no}, on_error: continue';
    expect(stepsOf(`  - {type: ask, question: q, ${keys}}\n`)[0]).toMatchObject({
      ask: { question: { text: 'q' }, choices: ['yes', 'no'], expiresMs: 86_400_000, expireAnswer: 'no' },
      onError: 'continue',
    });
    const schema = 'schema: {type: object, required: [ok]}, expires: 60, on_expire: fail';
    expect(stepsOf(`  - {type: ask, question: q, ${schema}}\n`)[0]).toMatchObject({
      ask: { schema: { type: 'object', required: ['ok'] }, expiresMs: 60_000, expireAnswer: undefined },
    });
  });

  it.each([
    ['schema: 3', '5:38 error wrong-type'],
    ['expires: soon', '5:39 error bad-duration'],
    ['expires: 1h, on_expire: {}', '5:54 error missing-answer'],
    ['expires: 1h, on_expire: {answer: }', '5:54 error missing-answer'],
    ['expires: 1h, on_expire: {answer: x, b: 1}', '5:66 error unknown-key'],
    ['expires: 1h, on_expire: never', '5:54 error wrong-type'],
    ['on_expire: {answer: x}', '5:41 warning no-effect'],
  ])('ask with %s is a problem', (keys, place) => {
    expect(wrong(`  - {type: ask, question: q, ${keys}}\n`)).toEqual([place]);
  });

  it('a call has a file, a prompt and inputs', () => {
    const call = '  - {type: call, file: sub.yaml, prompt: p, inputs: {topic: x, count: 3}}\n';
    expect(stepsOf(call)[0]).toMatchObject({
      call: {
        file: { text: 'sub.yaml' },
        inputs: [
          { name: 'topic', value: { text: 'x' } },
          { name: 'count', value: { text: '3' } },
        ],
      },
      prompt: { text: 'p' },
    });
    expect(wrong('  - {type: call, file: f, inputs: {x: [1, {a: b}]}}\n')).toEqual([]);
    expect(wrong('  - {type: call, file: f, inputs: [x]}\n')).toEqual(['5:35 error wrong-type']);
  });
});
