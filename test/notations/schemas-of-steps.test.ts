import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { formatProblem } from '../../src/base/problem.js';
import { loadWorkflowText } from '../../src/yaml.js';
import { dag, pipeline, ran, step } from './loops.js';

const VERDICT = JSON.stringify({ approved: true, score: 7, issues: ['dull'], level: 'low', at: { line: 3 } });
const FIELDS =
  '{ approved: boolean, score: number, issues: [string], level: { enum: [low, high] }, at: { line: integer }, note?: string }';

/** Problems as `line:column code: message | hint`. */
async function problems(text: string): Promise<readonly string[]> {
  const workflow = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
  return workflow.problems.map((problem) =>
    formatProblem(problem)
      .replace('w.yaml:', '')
      .replace(/ (?:error|warning) /, ' ')
      .replace('\n    hint:', ' |'),
  );
}

/** A step with a schema, and one that reads its output, in both notations. */
const BOTH = {
  dag: (schema: string, path: string) =>
    dag(step('judge', 'Judge.', `schema: ${schema}`), step('use', `So {{steps.judge.output.${path}}}.`, ON)),
  pipeline: (schema: string, path: string) =>
    pipeline(
      `{ id: judge, type: agent, name: w, prompt: Judge., schema: ${schema} }`,
      `{ id: use, type: agent, name: w, prompt: "So {{ $steps.judge.output.${path} }}." }`,
    ),
} as const;
const ON = 'depends_on: [judge]';
const NOTATIONS = Object.entries(BOTH);

describe.each(NOTATIONS)('[G4] [addition 2] schema on a step of a %s', (_, file) => {
  it('makes the answer data with paths, and the schema of the request is that of the short form', async () => {
    const ended = await ran(file(FIELDS, 'at.line'), { judge: [VERDICT], use: ['done'] });
    expect([ended.outcome, ended.asked]).toEqual(['succeeded', ['judge: Judge.', 'use: So 3.']]);
    const { plan } = await loadWorkflowText(file(FIELDS, 'score'), { file: 'w.yaml', cwd: '/' });
    const judge = plan?.nodes[0];
    expect(judge?.kind === 'agent' && judge.agent.output).toEqual({
      schema: {
        type: 'object',
        properties: {
          approved: { type: 'boolean' },
          score: { type: 'number' },
          issues: { type: 'array', items: { type: 'string' } },
          level: { enum: ['low', 'high'] },
          at: {
            type: 'object',
            properties: { line: { type: 'integer' } },
            required: ['line'],
            additionalProperties: false,
          },
          note: { type: 'string' },
        },
        required: ['approved', 'score', 'issues', 'level', 'at'],
        additionalProperties: false,
      },
    });
  });

  it('asks once more for an answer that does not fit, and then fails the step', async () => {
    const mended = await ran(file('{ score: number }', 'score'), { judge: ['seven', '{"score":7}'], use: ['done'] });
    expect(mended.asked.at(-1)).toBe('use: So 7.');
    const failed = await ran(file('{ score: number }', 'score'), { judge: ['{"score":"seven"}'] });
    expect([failed.outcome, failed.error?.code]).toEqual(['failed', 'SKEIN_OUTPUT_INVALID']);
  });

  it('may be a JSON Schema, also inside of the short form', async () => {
    const schema = '{ type: object, properties: { n: { type: integer, minimum: 5 } } }';
    const failed = await ran(file(schema, 'n'), { judge: ['{"n":4}'] });
    expect(failed.error?.message).toContain('/n: must be at least 5');
    const inner = await ran(file('{ n: { type: integer, minimum: 5 } }', 'n'), { judge: ['{"n":4}', '{"n":5}'] });
    expect(inner.asked.at(-1)).toBe('use: So 5.');
  });

  it('[no-such-path] a reference to what the schema can not have is an error before anything runs', async () => {
    expect(await problems(file(FIELDS, 'scor'))).toEqual([
      expect.stringMatching(
        /^\d+:\d+: no-such-path: step "use" looks into the output of .*"scor" \| did you mean "score"\?$/,
      ),
    ]);
    expect(await problems(file(FIELDS, 'at.line.x'))).toEqual([expect.stringContaining('no-such-path')]);
    expect(await problems(file(FIELDS, 'issues.0'))).toEqual([]);
    expect(await problems(file(FIELDS, 'note'))).toEqual([]);
  });

  it.each([
    ['{ score: numbr }', 'the type of a field can\'t be "numbr" | did you mean "number"?'],
    ['{ score: 5 }', "the type of a field can't be a number | write one of: string, number, integer, boolean"],
    ['{ score: }', "the type of a field can't be empty"],
    ['{ "a b": string }', '"a b" can\'t be the name of a field'],
    ['{ "?": string }', '"?" can\'t be the name of a field'],
    ['{ a: string, a?: string }', 'the schema has the field "a" twice'],
    ['{ a: [] }', 'a list in a schema has one entry, not 0'],
    ['{ a: [string, number] }', 'a list in a schema has one entry, not 2 | write the type of its items: [string]'],
    ['{}', 'a schema needs at least one field'],
    ['{ a: {} }', 'a schema needs at least one field'],
    ['{ a: { enum: word } }', 'enum of a schema must be a list, not text'],
    [
      '{ a: { $ref: "#/$defs/b" } }',
      "the schema can't be used: there is no schema at #/$defs/b | a reference leads to",
    ],
    ['{ a: { type: string, pattern: "(" } }', 'the schema can\'t be used: the pattern "(": a group is not closed'],
    ['{ patternProperties: { "(": {} }, type: object }', 'the schema can\'t be used: the pattern "("'],
    ['{ a: { type: number, minimum: "5" } }', "the schema can't be used: minimum must be a number, not a text"],
    ['{ a: { type: integer, multipleOf: 0 } }', "the schema can't be used: multipleOf must be above 0, not 0"],
    ['{ type: objekt }', 'type of a schema can\'t be "objekt" | did you mean "object"?'],
  ])('[bad-schema] %s', async (schema, words) => {
    const found = await problems(file(schema, 'output'));
    expect(found.join('\n')).toContain(`bad-schema: ${words}`);
  });

  it('[wrong-type] a schema that is not a map', async () => {
    expect((await problems(file('number', 'x'))).join('\n')).toContain('wrong-type: schema of step "judge" must be a');
  });
});

describe('[addition 2] schema on a step', () => {
  it('stands before the structured_output of the agent', async () => {
    const own = '{ id: a, type: agent, name: l, schema: { mine: string } }';
    const reads = (path: string): string => `{ id: b, type: agent, name: w, prompt: "{{ $steps.a.output.${path} }}" }`;
    const ended = await ran(pipeline(own, reads('mine')), { a: ['{"mine":"x"}'] });
    expect(ended.asked.at(-1)).toBe('b: x');
    expect(await problems(pipeline(own, reads('all')))).toEqual([
      expect.stringContaining('no-such-path: step "b" looks into the output of step "a"'),
    ]);
  });

  it('[no-such-path] is checked in conditions, loops and until of a DAG', async () => {
    const judge = step('judge', 'Judge.', 'schema: { ok: boolean, items: [{ title: string }] }');
    const when = (cel: string): string =>
      dag(judge, step('use', 'x', `depends_on: [judge], condition: { step: judge, cel: "${cel}" }`));
    expect(await problems(when('output.ok && steps.judge.output.items.all(i, i.title != \\"\\")'))).toEqual([]);
    for (const cel of ['output.okk', 'steps.judge.output.okk', 'steps.judge.output.items[0].name == 1'])
      expect(await problems(when(cel))).toEqual([expect.stringContaining('no-such-path: the condition of step "use"')]);
    const loop = (until: string): string =>
      dag(`{ id: polish, type: loop, until: ${until}, max_rounds: 3, steps: [${judge}] }`, OF_LOOP);
    expect(await problems(loop('steps.judge.output.ok'))).toEqual([]);
    expect(await problems(loop('steps.judge.output.okk'))).toEqual([expect.stringContaining('no-such-path')]);
    expect(await problems(loop('steps.judge.output.ok').replace('polish.output.ok', 'polish.output.okk'))).toEqual([
      expect.stringContaining('no-such-path: step "after" looks into the output of step "polish"'),
    ]);
  });

  it('[no-such-path] is checked in conditions of a pipeline', async () => {
    const judge = '{ id: judge, type: agent, name: w, schema: { ok: boolean } }';
    const when = (text: string): string =>
      pipeline(judge, `{ type: condition, condition: "${text}", true: [{ type: agent, name: l }] }`);
    expect(await problems(when('{{ $steps.judge.output.ok }}'))).toEqual([]);
    expect(await problems(when('{{ $steps.judge.output.okk }}'))).toEqual([expect.stringContaining('no-such-path')]);
    expect(await problems(when('{{ !$steps.judge.output.okk }}'))).toEqual([expect.stringContaining('no-such-path')]);
  });

  it('takes the short form for the answer to a question, too', async () => {
    const file = pipeline(
      '{ id: may, type: ask, question: May I?, schema: { yes: boolean } }',
      '{ id: use, type: agent, name: w, prompt: "{{ $steps.may.output.yes }}" }',
    );
    const ended = await ran(file, {}, { answer: () => Promise.resolve({ yes: true }) });
    expect(ended.asked).toEqual(['use: true']);
  });

  it('is part of what a record holds for: a resumed run asks again after the schema was edited, and not otherwise', async () => {
    const store = memoryStore();
    const first = await ran(BOTH.dag('{ score: number }', 'score'), { judge: ['{"score":7}'] }, { store });
    const same = await ran(BOTH.dag('{ score: number }', 'score'), {}, { store, fork: { run: first.runId } });
    expect([same.reused, same.ran]).toEqual([2, 0]);
    const other = await ran(
      BOTH.dag('{ score: integer }', 'score'),
      { judge: ['{"score":7}'] },
      { store, fork: { run: first.runId } },
    );
    expect([other.reused, other.asked]).toEqual([1, ['judge: Judge.']]);
  });
});

const OF_LOOP = step(
  'after',
  '{{steps.polish.output.ok}} {{steps.polish.outputs.judge.output.ok}}',
  'depends_on: [polish]',
);
