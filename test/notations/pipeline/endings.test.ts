import { describe, expect, it } from 'vitest';
import { agents, loadText, runPipeline, schema } from './run-pipeline.js';
import type { Ran } from './run-pipeline.js';

const NAMES = agents('a', 'b', ['judge', schema('good')]);
const last = (ran: Ran): string => ran.prompt('last').split('\n').at(-1) ?? '';
const fails = (id: string) => (step: string) => {
  if (step.split('/').at(-1)?.startsWith(id) === true) throw new Error('no model');
  return 'text';
};

describe('[addition 7] [G8] status and error of a step in a pipeline', () => {
  const file = (step: string, prompt: string): string =>
    `${NAMES}workflow:\n  - ${step}\n  - { id: last, type: agent, name: b, prompt: "${prompt}" }\n`;
  const ONE = '{ id: one, type: agent, name: a, on_error: continue }';

  it.each([
    ['succeeded', ONE, 'none', ' succeeded'],
    ['failed', ONE, 'one', ' failed'],
    ['skipped', '{ id: one, type: agent, name: a, when: "{{ $prompt == \'x\' }}" }', 'none', ' skipped'],
    [
      'a block that failed',
      '{ id: one, type: sequence, on_error: continue, steps: [{ id: in, type: agent, name: a }] }',
      'in',
      ' failed',
    ],
  ])('%s', async (_, step, failing, status) => {
    const ran = await runPipeline(file(step, ' {{ $steps.one.status }}'), fails(failing));
    expect(last(ran)).toBe(status);
  });

  it('the error has a code and a message, and is empty without one', async () => {
    const text = file(ONE, '[{{ $steps.one.error.code }}] [{{ $steps.one.error.message }}] [{{ $steps.one.error }}]');
    const failed = last(await runPipeline(text, fails('one')));
    expect(failed).toMatch(/^\[SKEIN_\w+\] \[.*no model.*\] \[\{"code":"SKEIN_\w+","message":".*"\}\]$/);
    expect(last(await runPipeline(text, () => 'text'))).toBe('[] [] []');
  });

  it('conditions, cases and when compare them', async () => {
    const text = `${NAMES}workflow:
  - ${ONE}
  - type: condition
    cases:
      - { when: '{{ $steps.one.error.code.startsWith("SKEIN_") && $steps.one.status != "succeeded" }}', steps: [{ id: fix, type: agent, name: b }] }
    else: [{ id: fine, type: agent, name: b }]
  - { id: last, type: agent, name: b, when: '{{ $steps.fix.status == "not_run" }}' }
`;
    const asked = async (failing: string): Promise<string> =>
      (await runPipeline(text, fails(failing))).asked.map(({ step }) => step).join(' ');
    expect(await asked('one')).toBe('one fix');
    expect(await asked('none')).toBe('one fine last');
  });

  it('not_run: a step of a branch that was not taken', async () => {
    const text = file(
      `{ type: condition, condition: "{{ $prompt == 'x' }}", true: [{ id: one, type: agent, name: a }] }`,
      ' {{ $steps.one.status }} [{{ $steps.one.error }}]',
    );
    expect(last(await runPipeline(text, () => 'text', { prompt: 'y' }))).toBe(' not_run []');
    expect(last(await runPipeline(text, () => 'text', { prompt: 'x' }))).toBe(' succeeded []');
  });

  it('steps inside of blocks tell it to those behind the block', async () => {
    const text = `${NAMES}workflow:
  - { type: parallel, id: p, steps: [{ id: x, type: agent, name: a, on_error: continue }, { type: loop, id: l, until: { line: text }, max_rounds: 2, steps: [{ id: y, type: agent, name: b }] }] }
  - { id: last, type: agent, name: b, prompt: "{{ $steps.p.outputs.x.status }} {{ $steps.p.outputs.l.outputs.y.status }} {{ $steps.p.outputs.l.status }} {{ $steps.p.status }}" }
`;
    expect(last(await runPipeline(text, fails('x')))).toBe('failed succeeded succeeded succeeded');
  });

  it('in a loop it is that of the last time, and of a later step that of the round before', async () => {
    const text = `${NAMES}workflow:
  - type: loop
    id: l
    until: "{{ $steps.judge.output.good }}"
    max_rounds: 3
    steps:
      - { id: see, type: agent, name: a, prompt: " {{ $steps.judge.status }}" }
      - { id: judge, type: agent, name: judge }
`;
    const goods = ['false', 'true'];
    const ran = await runPipeline(text, (step) => (step.endsWith('judge') ? `{"good": ${goods.shift()}}` : 'text'));
    const prompts = ran.asked.filter(({ step }) => step.endsWith('see')).map(({ prompt }) => prompt.split('\n').at(-1));
    expect(prompts).toEqual([' not_run', ' succeeded']);
  });

  it('nodes of which nobody reads how they ended have no channel for it', async () => {
    const { plan } = await loadText(file(ONE, '{{ $steps.one.status }}'));
    expect(plan?.nodes.map(({ ending }) => ending)).toEqual(['steps.one.ending', undefined]);
    expect(plan?.channels.find(({ name }) => name === 'steps.one.ending')).toEqual({ name: 'steps.one.ending' });
  });

  it.each([
    ['$steps.one.statos', 'unknown-member'],
    ['$steps.one.errors', 'unknown-member'],
    ['$steps.one.error.cod', 'unknown-member'],
    ['$steps.one.status.x', 'unknown-member'],
    ['$steps.last.status', 'not-upstream'],
    ['$steps.two.status', 'unknown-step'],
  ])('[unknown-member] {{ %s }} is %s', async (reference, code) => {
    const { problems } = await loadText(file(ONE, `{{ ${reference} }}`));
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('[bad-condition] a status alone is neither true nor false', async () => {
    const text = `${NAMES}workflow:\n  - ${ONE}\n  - { type: condition, condition: "{{ $steps.one.status }}", true: [{ type: agent, name: b }] }\n`;
    const { problems } = await loadText(text);
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ['bad-condition', expect.stringContaining('compare it')],
    ]);
  });
});

describe('[addition 7] errors, index and key of a map in a pipeline', () => {
  const file = (map: string, prompt: string): string => `${NAMES}workflow:
  - { id: list, type: agent, name: a }
  - { id: m, type: map, over: "{{ $steps.list.output }}", ${map} }
  - { id: last, type: agent, name: b, prompt: "${prompt}" }
`;
  const items = (failing: string) => (step: string) => {
    if (step === 'list') return '[{"n": "x"}, {"n": "y"}]';
    if (step.startsWith(failing)) throw new Error('no model');
    return 'text';
  };

  it('index is the place of an item, key what it is called', async () => {
    const text = file(
      'key: n, steps: [{ id: one, type: agent, name: b, prompt: "{{ $index }}/{{ $key }}/{{ $item.n }}" }]',
      'x',
    );
    const ran = await runPipeline(text, items('none'));
    const prompts = ran.asked
      .filter(({ step }) => step.startsWith('m['))
      .map(({ prompt }) => prompt.split('\n').at(-1));
    expect(prompts.toSorted((one, other) => (one ?? '').localeCompare(other ?? ''))).toEqual(['0/x/x', '1/y/y']);
  });

  it('conditions know them, and maps within maps have their own', async () => {
    const deep =
      '{ id: d, type: map, over: "{{ $steps.list.output }}", steps: [{ id: one, type: agent, name: b, when: "{{ $index == 1 }}", prompt: "{{ $index }}" }, { id: e, type: agent, name: a }] }';
    const ran = await runPipeline(
      file(`steps: [${deep}, { id: out, type: agent, name: b, prompt: "{{ $index }}" }]`, 'x'),
      items('none'),
    );
    const asked = ran.asked
      .map(({ step, prompt }) => `${step} ${prompt.split('\n').at(-1)}`)
      .filter((one) => /one|out/.test(one));
    expect(asked.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'm[0]/d[1]/one 1',
      'm[0]/out 0',
      'm[1]/d[1]/one 1',
      'm[1]/out 1',
    ]);
  });

  it('errors lists the items that failed', async () => {
    const text = file(
      'key: n, on_item_error: continue, steps: [{ id: one, type: agent, name: b }]',
      '{{ $steps.m.errors }} {{ $steps.m.status }}',
    );
    expect(last(await runPipeline(text, items('m[y]')))).toMatch(
      /^\[\{"index":1,"key":"y","message":".*no model.*"\}\] succeeded$/,
    );
    expect(last(await runPipeline(text, items('none')))).toBe('[] succeeded');
  });

  it('of a map that failed it is the item that ended it', async () => {
    const text = file(
      'on_error: continue, steps: [{ id: one, type: agent, name: b }]',
      '{{ $steps.m.status }} {{= size($steps.m.errors) }}'.replace(
        '{{= size($steps.m.errors) }}',
        '{{ $steps.m.errors[0].index }}',
      ),
    );
    expect(last(await runPipeline(text, items('m[0]')))).toBe('failed 0');
  });

  it.each(['$index', '$key'])('%s outside of a map does not exist', async (reference) => {
    const { problems } = await loadText(file('steps: [{ id: one, type: agent, name: b }]', `{{ ${reference} }}`));
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ['unknown-variable', 'only the steps of a map have an index and a key'],
    ]);
  });
});
