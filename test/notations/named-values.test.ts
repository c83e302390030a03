import { describe, expect, it } from 'vitest';
import { loadWorkflowText } from 'skein/yaml';
import { dag, pipeline, ran, step } from './loops.js';

/** A step with typed fields, one that names a value, and typed inputs; references are written without the `$` of pipelines. */
const INPUTS =
  'inputs: { names: { type: list, default: [x] }, n: { type: number, default: 1 }, loose: { default: "[]" } }\n';
const SCHEMA = 'schema: { list: [string], n: number, word: { enum: [q, r] } }';
const FILES = {
  dag: (key: string, value: string) => INPUTS + dag(step('a', 'A', SCHEMA), NAMING.dag(key, JSON.stringify(value))),
  pipeline: (key: string, value: string) =>
    INPUTS +
    pipeline(
      `{ id: a, type: agent, name: w, ${SCHEMA} }`,
      NAMING.pipeline(key, JSON.stringify(value.replaceAll(/\b(steps|inputs)\./g, '$$$1.'))),
    ),
} as const;
const NAMING = {
  dag: (key: string, value: string) =>
    `{ id: b, depends_on: [a], ${of(key, value)}${key === 'choices' ? '' : `, steps: [${step('c', 'C')}]`} }`,
  pipeline: (key: string, value: string) =>
    `{ id: b, ${of(key, value)}${key === 'choices' ? '' : ', steps: [{ id: c, type: agent, name: w, prompt: C }]'} }`,
} as const;

function of(key: string, value: string): string {
  if (key === 'over') return `type: map, over: ${value}`;
  if (key === 'choices') return `type: ask, question: Which?, choices: ${value}`;
  return `type: loop, until: { line: ok }, max_rounds: 3, rounds: ${value}`;
}

async function problemsOf(text: string) {
  const { problems } = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
  return problems.filter(({ severity }) => severity === 'error');
}

describe.each(Object.entries(FILES))('a key of a %s that names a value', (notation, file) => {
  const mark = notation === 'dag' ? '' : '$';

  it.each([
    ['steps.a.output.n', 'of the type number'],
    ['steps.a.output.word', 'one of the words of an enum'],
    ['steps.a.output', 'of the type object'],
    ['steps.a.status', 'of the type string'],
    ['steps.a.error', 'of the type object'],
    ['inputs.n', 'of the type number'],
  ])('[addition 10] [not-a-list] %s, which is %s, is neither gone through nor chosen from', async (value, what) => {
    for (const key of ['over', 'choices']) {
      const problems = await problemsOf(file(key, value));
      const message = `${key} of step "b" names "${mark}${value}", which is ${what}, not a list`;
      const hint = 'name a list: an input with "type: list", or an output whose schema says [string]';
      const at = { file: 'w.yaml', line: notation === 'dag' ? 6 : 7 };
      expect(problems, key).toMatchObject([{ code: 'not-a-list', message, hint, at }]);
    }
  });

  it.each(['steps.a.output.list', 'inputs.names', 'inputs.loose'])('%s may be a list', async (value) => {
    for (const key of ['over', 'choices']) expect(await problemsOf(file(key, value)), key).toEqual([]);
  });

  it.each(['over', 'choices', 'rounds'])(
    '[addition 6] [bad-reference] %s takes a reference and no expression, and the hint says how to make the value',
    async (key) => {
      for (const expression of ['steps.a.output.list.filter(i, i != "x")', '1 + 1']) {
        const written = expression.replace('steps.', `${mark}steps.`);
        const [problem, ...more] = await problemsOf(file(key, `{{= ${expression} }}`));
        expect([more, problem?.code, problem?.at?.line]).toEqual([[], 'bad-reference', notation === 'dag' ? 6 : 7]);
        expect(problem?.message).toBe(`${key} of step "b" is an expression, and takes a reference`);
        const set = `{ id: ID, type: set, values: { ${key}: ${JSON.stringify(`{{= ${written} }}`)} } }`;
        expect(problem?.hint).toBe(
          `make the value in a step before, ${set}, and write ${key}: ${mark}steps.ID.output.${key}`,
        );
      }
      expect(await problemsOf(file(key, 'nothing'))).toMatchObject([{ code: 'bad-reference' }]);
    },
  );
});

describe('[addition 8] a map', () => {
  it.each([
    ['dag', dag(`{ id: b, type: map, steps: [${step('c', 'C')}] }`), 'step "b"', 4],
    ['pipeline', pipeline('{ id: b, type: map, steps: [{ id: c, type: agent, name: w }] }'), 'step "b"', 5],
    [
      'pipeline with an empty key',
      pipeline('{ id: b, type: map, over: "", steps: [{ id: c, type: agent, name: w }] }'),
      'step "b"',
      5,
    ],
  ])('[missing-over] of a %s must say what it goes through', async (_notation, file, label, line) => {
    const message = `nothing says what ${label} goes through`;
    const hint = 'add "over:" with a reference to the list to go through';
    expect(await problemsOf(file)).toMatchObject([
      { code: 'missing-over', message, hint, at: { file: 'w.yaml', line } },
    ]);
  });
});

describe('what the hint for an expression says', () => {
  it('is a file that runs: the list is made by a step of the type set', async () => {
    const set = `{ id: few, type: set, values: { over: "{{= $steps.a.output.list.filter(i, i != 'x') }}" } }`;
    const each =
      '{ type: map, over: $steps.few.output.over, steps: [{ type: agent, name: w, prompt: "{{ $item }}" }] }';
    const file = pipeline(`{ id: a, type: agent, name: w, ${SCHEMA} }`, set, each);
    const { asked } = await ran(file, { a: ['{"list": ["x", "y", "z"], "n": 1, "word": "q"}'] });
    expect(asked.slice(1).map((line) => line.split(': ')[1])).toEqual(['y', 'z']);
  });

  it('[bad-condition] [bad-expression] a condition is an expression already', async () => {
    const when = (text: string) =>
      pipeline('{ id: a, type: agent, name: w }', `{ type: agent, name: w, when: '${text}' }`);
    expect(await problemsOf(when('{{= $steps.a.output == "x" }}'))).toMatchObject([
      { code: 'bad-condition', hint: 'a condition is an expression already: write {{ $steps.a.output == "x" }}' },
    ]);
    const cel = (text: string) => dag(step('a', 'A'), step('b', 'B', `depends_on: [a], condition: { cel: '${text}' }`));
    for (const braced of ['{{= steps.a.output == "x" }}', '{{ steps.a.output == "x" }}']) {
      expect(await problemsOf(cel(braced))).toMatchObject([
        { code: 'bad-expression', hint: 'an expression stands here without braces: steps.a.output == "x"' },
      ]);
    }
  });

  it('[bad-reference] a reference of a DAG in braces is told without them', async () => {
    expect(await problemsOf(FILES.dag('over', '{{steps.a.output.list}}'))).toMatchObject([
      { code: 'bad-reference', hint: 'write steps.a.output.list, without braces' },
    ]);
  });

  it('[bad-reference] the order of a parallel block is a text of the file, and no value', async () => {
    const block = '{ id: p, type: parallel, steps: [{ id: x, type: agent, name: w }] }';
    const file = pipeline(block, '{ type: map, over: $steps.p.order, steps: [{ type: agent, name: w }] }');
    expect(await problemsOf(file)).toMatchObject([{ code: 'bad-reference', at: { line: 6 } }]);
  });
});

describe('[addition 10] [not-a-list] a list that is none when the step runs', () => {
  const each = '{ id: b, type: map, over: $steps.a.output.all, steps: [{ type: agent, name: w }] }';
  const pick = '{ id: b, type: ask, question: Which?, choices: $steps.a.output.all }';
  const first = '{ id: a, type: agent, name: w }';

  it.each([
    ['over', 'which is not a list', each, '{"all": "red"}'],
    ['choices', 'is not a list', pick, '{"all": "red"}'],
    ['choices', 'is empty', pick, '{"all": []}'],
    ['choices', 'has something else than texts', pick, '{"all": [{"a": 1}]}'],
  ])('%s fails the step with SKEIN_NOT_A_LIST: %s', async (_key, why, second, said) => {
    const ended = await ran(pipeline(first, second), { a: [said] });
    expect([ended.outcome, ended.error?.code]).toEqual(['failed', 'SKEIN_NOT_A_LIST']);
    expect(ended.error?.message).toContain(why);
    expect(ended.error?.message).toContain('steps.a.output.all');
    expect(ended.error?.hint).toContain('give a list');
  });

  it('holds in a DAG, and a step that goes on has the error as a value', async () => {
    const file = dag(
      step('a', 'A'),
      '{ id: b, type: ask, depends_on: [a], question: Which?, choices: steps.a.output.all, on_error: continue }',
      step('c', '{{steps.b.error.code}}', 'depends_on: [b]'),
    );
    const { outcome, asked } = await ran(file, { a: ['{"all": 3}'] });
    expect([outcome, asked.at(-1)]).toEqual(['degraded', 'c: SKEIN_NOT_A_LIST']);
  });
});
