import { describe, expect, it } from 'vitest';
import { loadWorkflowText } from 'skein/yaml';
import { dag, pipeline, ran, step, wrong } from './loops.js';

/** A step that gives items, and one whose prompt is this; references are written without the `$` of pipelines. */
const BOTH = {
  dag: (prompt: string) =>
    `${dag(step('a', 'A', 'schema: { items: [{ title: string, n: integer }], note?: string }'), `{ id: b, agent: w, depends_on: [a], prompt: ${JSON.stringify(prompt)} }`)}inputs: { sev: { default: high } }\n`,
  pipeline: (prompt: string) =>
    `inputs: { sev: { default: high } }\n${pipeline(
      '{ id: a, type: agent, name: w, prompt: A, schema: { items: [{ title: string, n: integer }], note?: string } }',
      `{ id: b, type: agent, name: w, prompt: ${JSON.stringify(prompt.replaceAll(/\b(steps|inputs)\./g, '$$$1.'))} }`,
    )}`,
} as const;
const ITEMS = { a: ['{"items":[{"title":"x","n":1},{"title":"y","n":2}]}'] };

describe.each(Object.entries(BOTH))('[G7] [addition 6] {{= }} in a prompt of a %s', (notation, file) => {
  it.each([
    ['{{= size(steps.a.output.items) }} items', '2 items'],
    ["{{= steps.a.output.items.map(i, i.title).join(', ') }}.", 'x, y.'],
    ['{{= json(steps.a.output.items[0]) }}', '{"title":"x","n":1}'],
    ["{{= inputs.sev in ['high', 'critical'] ? 'now' : 'later' }}", 'now'],
    ["{{= {'a': {'b': size(steps.a.output.items)}}.a.b + 1 }}", '3'],
    ["due {{= timestamp('2024-02-28T00:00:00Z') + duration('24h') }}", 'due 2024-02-29T00:00:00Z'],
    ['\\{{= size(x) }} {{ steps.a.output.items.1.title }}', '{{= size(x) }} y'],
  ])('%s gives %s', async (prompt, wanted) => {
    const written = notation === 'dag' ? prompt : prompt.replace('items.1.title', 'items[1].title');
    const { asked } = await ran(file(written), ITEMS);
    expect(asked.at(-1)).toBe(`b: ${wanted}`);
  });

  it('what a model says is never an expression', async () => {
    const { asked } = await ran(file('{{= steps.a.output.items[0].title }}'), {
      a: ['{"items":[{"title":"{{= 1 + 1 }} {{inputs.sev}}","n":1}]}'],
    });
    expect(asked.at(-1)).toBe('b: {{= 1 + 1 }} {{inputs.sev}}');
  });

  it.each([
    ['[bad-expression]', '{{= size( }}', 'bad-expression'],
    ['[bad-expression]', '{{= steps.a.output.items.all(i, i.matches("x")) }}', 'bad-expression'],
    ['[bad-expression]', '{{= nothing + 1 }}', 'bad-expression'],
    ['[bad-expression]', "{{= {'constructor': 1} }}", 'bad-expression'],
    ['[bad-expression]', 'so {{= size(steps.a.output.items)', 'bad-expression'],
    ['[unknown-member]', '{{= steps.a.outptu == "x" }}', 'unknown-member'],
    ['[unknown-step]', '{{= steps.z.output }}', 'unknown-step'],
    ['[unknown-input]', '{{= inputs.svr }}', 'unknown-input'],
    ['[no-such-path]', '{{= steps.a.output.itms }}', 'no-such-path'],
    ['[not-upstream]', '{{= steps.b.output }}', 'not-upstream'],
  ])('%s %s is an error before anything runs', async (_code, prompt, code) => {
    const found = await wrong(file(prompt));
    expect(found.join('\n')).toContain(`${code}: `);
  });

  it('a result that is not a value fails its step', async () => {
    const ended = await ran(file('{{= steps.a.output.items[0].n / (steps.a.output.items[0].n - 1.0) }}'), ITEMS);
    expect([ended.outcome, ended.error?.code]).toEqual(['failed', 'SKEIN_TEMPLATE']);
    expect(ended.error?.message).toContain('the result is Infinity');
  });

  it('an expression that costs too much fails its step, and nothing hangs', async () => {
    const items = Array.from({ length: 1_000 }, (_item, n) => ({ title: 'x', n }));
    const prompt = '{{= size(steps.a.output.items.map(i, steps.a.output.items.map(j, json(steps.a.output.items)))) }}';
    const ended = await ran(file(prompt), { a: [JSON.stringify({ items })] });
    expect([ended.outcome, ended.error?.code]).toEqual(['failed', 'SKEIN_TEMPLATE']);
    expect(ended.error?.message).toContain('would take too long');
  });
});

describe('[addition 6] a reference with a ?', () => {
  it('is empty in a pipeline where a step did not run, a path is not there, or a condition asks', async () => {
    const file = pipeline(
      '{ id: a, type: agent, name: w, prompt: A }',
      '{ type: condition, condition: "{{ $steps.a.output == \'go\' }}", true: [{ id: b, type: agent, name: w, prompt: B }] }',
      '{ id: c, type: agent, name: w, prompt: "<{{ $steps.b.output? }}{{ $steps.b.output.x? }}>" }',
      '{ type: condition, condition: "{{ $steps.b.output.ok? }}", false: [{ id: d, type: agent, name: w, prompt: D }] }',
    );
    const ended = await ran(file, { a: ['stay'] });
    expect([ended.outcome, ended.asked.slice(1), ended.warnings]).toEqual(['succeeded', ['c: <>', 'd: D'], []]);
  });

  const READS = [
    ['{{ $steps.a.outptu }}', 'output'],
    ['{{ $steps.a.outptu == "x" }}', 'output'],
    ['{{ $steps.a.statos == "failed" }}', 'status'],
  ] as const;
  const GUARDED = 'id: b, type: agent, name: w, prompt: B';
  it.each([
    ['a condition', (read: string) => `{ type: condition, condition: '${read}', true: [{ ${GUARDED} }] }`],
    ['a case', (read: string) => `{ type: condition, cases: [{ when: '${read}', steps: [{ ${GUARDED} }] }] }`],
    ['when', (read: string) => `{ ${GUARDED}, when: '${read}' }`],
    ['until', (read: string) => `{ type: loop, max_rounds: 3, until: '${read}', steps: [{ ${GUARDED} }] }`],
  ])('[unknown-member] %s of a pipeline that reads what can not be there is an error', async (_name, using) => {
    const first = '{ id: a, type: agent, name: w, prompt: A }';
    for (const [read, meant] of READS) {
      const { problems } = await loadWorkflowText(pipeline(first, using(read)), { file: 'w.yaml', cwd: '/' });
      const errors = problems.filter(({ severity }) => severity === 'error');
      const hint = `did you mean "${meant}"?`;
      expect(errors, read).toMatchObject([{ code: 'unknown-member', hint, at: { file: 'w.yaml', line: 6 } }]);
    }
  });

  it.each([
    ['a condition', step('b', 'B', 'depends_on: [a], condition: { cel: \'steps.a.outptu == "x"\' }')],
    [
      'until',
      `{ id: b, type: loop, depends_on: [a], max_rounds: 3, until: steps.a.outptu, steps: [${step('c', 'C')}] }`,
    ],
    ['over', `{ id: b, type: map, depends_on: [a], over: steps.a.outptu.list, steps: [${step('c', 'C')}] }`],
    ['a prompt', step('b', '{{steps.a.outptu}}', 'depends_on: [a]')],
  ])('[unknown-member] %s of a DAG that reads what can not be there is an error', async (_name, second) => {
    const { problems } = await loadWorkflowText(dag(step('a', 'A'), second), { file: 'w.yaml', cwd: '/' });
    const errors = problems.filter(({ severity }) => severity === 'error');
    const hint = 'did you mean "output"?';
    expect(errors).toMatchObject([{ code: 'unknown-member', hint, at: { file: 'w.yaml', line: 5 } }]);
  });
});
