import { describe, expect, it } from 'vitest';
import { loadWorkflow, loadWorkflowText } from 'skein/yaml';
import { BROKEN, ran, wrong } from './loops.js';
import { makeProject } from './project.js';

const dag = (...steps: readonly string[]): string =>
  `name: d\nagents: { w: { inline: { prompt: You write. } } }\nsteps:\n${steps.map((one) => `  - ${one}\n`).join('')}`;
const step = (id: string, prompt: string, more = ''): string => `{ id: ${id}, agent: w, prompt: "${prompt}"${more} }`;
const AFTER = ', depends_on: [one]';

describe('[addition 7] [G8] status and error of a step in a DAG workflow', () => {
  it.each([
    ['succeeded', step('one', 'x'), 'ok', 'last: succeeded []'],
    ['failed', step('one', 'x', ', on_error: continue'), BROKEN, 'last: failed [SKEIN_'],
    [
      'skipped',
      step('one', 'x', ', condition: { step: zero, equals: never }, depends_on: [zero]'),
      'ok',
      'last: skipped []',
    ],
    ['a step that waits', '{ id: one, type: wait, for: 1ms }', 'ok', 'last: succeeded []'],
  ])('%s', async (_, one, answer, asked) => {
    const file = dag(step('zero', 'z'), one, step('last', '{{steps.one.status}} [{{steps.one.error.code}}]', AFTER));
    const end = await ran(file, { one: [answer] });
    expect(end.asked.at(-1)).toContain(asked);
  });

  it('expressions compare them: a step runs only where another one failed', async () => {
    const file = dag(
      step('one', 'x', ', on_error: continue'),
      step(
        'fix',
        'f',
        `${AFTER}, condition: { cel: 'steps.one.status == "failed" && steps.one.error.message.contains("no model")' }`,
      ),
    );
    expect((await ran(file, { one: [BROKEN] })).asked.at(-1)).toBe('fix: f');
    expect((await ran(file, { one: ['ok'] })).asked).toEqual(['one: x']);
  });

  it('expressions compare that of a step that gives nothing, and of a file without one result', async () => {
    const reads = (id: string): string =>
      step('last', 'l', `, depends_on: [${id}], condition: { cel: 'steps.${id}.status == "succeeded"' }`);
    expect((await ran(dag('{ id: one, type: wait, for: 1ms }', reads('one')), {})).asked).toEqual(['last: l']);
    const cwd = await makeProject({
      'two.yaml': dag(step('a', 'a'), step('b', 'b')),
      'main.yaml': dag('{ id: two, type: call, file: two.yaml }', reads('two')),
      'wrong.yaml': dag('{ id: two, type: call, file: two.yaml }', reads('two').replace('status', 'output')),
    });
    expect((await ran('main.yaml', {}, {}, cwd)).asked).toEqual(['two/a: a', 'two/b: b', 'last: l']);
    const { problems } = await loadWorkflow('wrong.yaml', { cwd });
    expect(problems.map(({ code }) => code)).toEqual(['unknown-member']);
  });

  it('a step that is skipped since another one failed says so', async () => {
    const file = dag(
      step('one', 'x', ', on_error: skip'),
      step('two', 'y', AFTER),
      step('three', 'z'),
      step('last', '{{steps.three.status}}', ', depends_on: [three]'),
    );
    expect((await ran(file, { one: [BROKEN] })).asked.at(-1)).toBe('last: succeeded');
  });

  it('in a loop, until knows it, and a later step that of the round before', async () => {
    const file = dag(
      `{ id: l, type: loop, until: steps.check.status == "succeeded", max_rounds: 3, steps: [${step('edit', 'e {{steps.check.status?}}')}, ${step('check', 'c', ', depends_on: [edit], on_error: continue')}] }`,
      step('last', '{{steps.l.outputs.check.status}} {{steps.l.status}}', ', depends_on: [l]'),
    );
    const end = await ran(file, { check: [BROKEN, 'ok'] });
    expect([end.outcome, end.asked]).toEqual([
      'degraded',
      ['l#1/edit: e not_run', 'l#1/check: c', 'l#2/edit: e failed', 'l#2/check: c', 'last: succeeded succeeded'],
    ]);
  });

  it.each([
    ['{{steps.one.statos}}', 'unknown-member'],
    ['{{steps.one.errors}}', 'unknown-member'],
    ['{{steps.one.error.cod}}', 'unknown-member'],
    ['{{steps.last.status}}', 'not-upstream'],
    ['{{steps.nobody.status}}', 'unknown-step'],
  ])('[unknown-member] %s is %s', async (prompt, code) => {
    const found = await wrong(dag(step('one', 'x'), step('last', prompt, AFTER)));
    expect(found.map((one) => one.split(':')[0])).toEqual([code]);
  });

  it('a step that need not have ended can not be read', async () => {
    expect(await wrong(dag(step('one', 'x'), step('last', '{{steps.one.status}}')))).toEqual([
      'not-upstream: step "last" refers to the step "one", which need not have run before',
    ]);
  });

  it('nodes of which nobody reads it have no channel for it', async () => {
    const { plan } = await loadWorkflowText(dag(step('one', 'x'), step('last', '{{steps.one.status}}', AFTER)), {
      cwd: '/',
    });
    expect(plan?.nodes.map(({ ending }) => ending)).toEqual(['steps.one.ending', undefined]);
  });
});

describe('[addition 7] errors, index and key of a map in a DAG workflow', () => {
  const file = (map: string, prompt: string): string =>
    dag(
      step('find', 'F'),
      `{ id: m, type: map, depends_on: [find], over: steps.find.output, ${map} }`,
      step('last', prompt, ', depends_on: [m]'),
    );

  it('index and key of the innermost map, in texts and expressions', async () => {
    const inner = `steps: [${step('one', '{{index}}/{{key}}/{{item.n}}', ', condition: { cel: index > 0 }')}]`;
    const end = await ran(file(`key: n, ${inner}`, 'x'), { find: ['[{"n": "x"}, {"n": "y"}]'] });
    expect(end.asked.slice(1, -1)).toEqual(['m[y]/one: 1/y/y']);
  });

  it('errors lists the items that failed', async () => {
    const text = file(`on_item_error: continue, steps: [${step('one', '{{item}}')}]`, '{{steps.m.errors}}');
    const end = await ran(text, { find: ['["a", "b"]'], one: [BROKEN, 'ok'] });
    expect(end.asked.at(-1)).toMatch(/^last: \[\{"index":\d,"key":"\d","message":".*no model.*"\}\]$/);
  });

  it('index is known inside of a map alone', async () => {
    const { problems } = await loadWorkflowText(dag(step('one', '{{index}}')), { cwd: '/' });
    expect(problems.map(({ code }) => code)).toEqual(['not-a-reference']);
  });
});
