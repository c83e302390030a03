import { describe, expect, it } from 'vitest';
import { tableBelow } from '../../examples/support/tables.js';
import { agents, brief, loadText, runPipeline, schema } from './run-pipeline.js';

const NAMES = agents('qa', 'yes', 'no');

/** A step, and a condition on its output with a step in each branch. */
function file(condition: string, qa = NAMES): string {
  return `${qa}workflow:
  - {id: qa, type: agent, name: qa}
  - type: condition
    condition: ${JSON.stringify(condition)}
    true: [{id: yes, type: agent, name: yes}]
    false: [{id: no, type: agent, name: no}]
`;
}

/** Which branch a run takes when the step gave this. */
async function branch(output: string, condition: string): Promise<string> {
  // A path without a schema is a warning, and works.
  const path = /output\./.test(condition);
  const column = condition.startsWith('$') ? 17 : 20;
  const ran = await runPipeline(file(condition), (step) => (step === 'qa' ? output : 'x'), {
    problems: path ? [`8:${column} warning no-structured-output`] : [],
  });
  return ran.asked[1]?.step ?? ran.error?.message ?? ran.outcome;
}

const APPROVED = '{{ $steps.qa.output.is_approved }}';
const TABLE: readonly (readonly [output: string, condition: string, branch: 'yes' | 'no'])[] = [
  ['{"is_approved": true}', APPROVED, 'yes'],
  ['{"is_approved": "YES"}', APPROVED, 'yes'],
  ['{"is_approved": 1}', APPROVED, 'no'],
  ['{"is_approved": {"x": true}}', APPROVED, 'no'],
  ['{"a": {"b": true}}', '$steps.qa.output.a.b', 'yes'],
  ['{"a": {"b": true}}', '$steps.qa.output.a.c', 'no'],
  ['yes', '$steps.qa.output.is_approved', 'yes'],
  ['[true]', '$steps.qa.output.is_approved', 'no'],
  ['1', '$steps.qa.output', 'yes'],
  ['approved', '$steps.qa.output', 'no'],
];

describe('the truth table of conditions, each row through a whole run', () => {
  it.each(TABLE)('%s, %s: %s', async (output, condition, expected) => {
    expect(await branch(output, condition)).toBe(expected);
  });

  it.each([
    ['{"is_approved": false}', APPROVED, 'no'],
    ['{"is_approved": null}', APPROVED, 'no'],
    ['{}', APPROVED, 'no'],
    ['```json\n{"is_approved": true}\n```', APPROVED, 'yes'],
    [' True \n', '$steps.qa.output', 'yes'],
    ['{"__proto__": {"is_approved": true}}', APPROVED, 'no'],
  ])('also %j, %s: %s', async (output, condition, expected) => {
    expect(await branch(output, condition)).toBe(expected);
  });

  it('is the table of docs/pipeline.md', async () => {
    const rows = await tableBelow('docs/pipeline.md', '## Conditions', 1);
    const cells = rows.map((row) => row.map((cell) => cell.replaceAll('`', '')));
    expect(cells).toEqual(TABLE.map(([output, condition, taken]) => [output, condition, taken]));
  });

  it('a step that declares its output gives data, and the same holds', async () => {
    const declared = agents(['qa', schema('is_approved')], 'yes', 'no');
    for (const [value, expected] of [
      ['true', 'yes'],
      ['"YES"', 'yes'],
      ['1', 'no'],
    ]) {
      const ran = await runPipeline(file(APPROVED, declared), (step) =>
        step === 'qa' ? `{"is_approved": ${value}}` : 'x',
      );
      expect(ran.asked[1]?.step).toBe(expected);
    }
  });
});

describe('rows that do not resolve', () => {
  it.each(['$steps.qa', 'true', '$env.X', '$steps.qa.outputs', '!$steps.qa.output'])(
    '%s is said when it is loaded, with the words of the document',
    async (condition) => {
      const { plan, problems } = await loadText(file(condition));
      expect(plan).toBeUndefined();
      expect(problems.map(({ message }) => message).join('\n')).toContain(
        `workflow: condition did not resolve to boolean: ${JSON.stringify(condition)}`,
      );
      expect(brief(problems)).toEqual([expect.stringMatching(/^8:\d+ error /)]);
    },
  );

  it('a step that has not run: known at load when it never can have, and at the condition when this run left it out', async () => {
    const later = `${NAMES}workflow:
  - {type: condition, condition: $steps.qa.output, true: [{type: agent, name: yes}]}
  - {id: qa, type: agent, name: qa}
`;
    expect((await loadText(later)).plan).toBeUndefined();
    const branches = `${NAMES}workflow:
  - {id: qa, type: agent, name: qa}
  - {type: condition, condition: $steps.qa.output, true: [{id: yes, type: agent, name: yes}]}
  - {type: condition, condition: $steps.yes.output, true: [{type: agent, name: yes}]}
`;
    const ran = await runPipeline(branches, () => 'no');
    expect(ran.outcome).toBe('failed');
    expect(ran.error?.message).toContain('workflow: condition did not resolve to boolean: "$steps.yes.output"');
    expect((await runPipeline(branches, () => 'yes')).outcome).toBe('succeeded');
  });
});

describe('rows about parallel blocks', () => {
  const par = (condition: string): string => `${NAMES}workflow:
  - type: parallel
    id: par
    steps:
      - {id: c1, type: agent, name: qa}
      - {id: c2, type: agent, name: qa}
  - type: condition
    condition: ${JSON.stringify(condition)}
    true: [{id: yes, type: agent, name: yes}]
    false: [{id: no, type: agent, name: no}]
`;
  const taken = async (
    c1: string,
    condition: string,
    problems: readonly string[] = [],
  ): Promise<string | undefined> => {
    const ran = await runPipeline(par(condition), (step) => (step === 'par/c1' ? c1 : 'false'), { problems });
    return ran.asked.at(-1)?.step;
  };

  it('a child that says true', async () => {
    expect(await taken('true', '$steps.par.outputs.c1.output')).toBe('yes');
    expect(await taken('false', '$steps.par.outputs.c1.output')).toBe('no');
  });

  it('a path into the output of a child', async () => {
    const warned = ['12:17 warning no-structured-output'];
    expect(await taken('{"ok":true}', '$steps.par.outputs.c1.output.ok', warned)).toBe('yes');
    expect(await taken('{"ok":false}', '$steps.par.outputs.c1.output.ok', warned)).toBe('no');
  });

  it('the first in order', async () => {
    expect(await taken('true', '$steps.par.outputs[0].output')).toBe('yes');
    expect(await taken('true', '$steps.par.outputs[1].output')).toBe('no');
  });
});

describe('expressions in braces', () => {
  it.each([
    ['{{ $steps.qa.output == "approved" }}', 'approved', 'yes'],
    ['{{ $steps.qa.output != "approved" }}', 'approved', 'no'],
    ['{{ $steps.qa.output.contains("ok") && size($prompt) > 0 }}', 'all ok', 'yes'],
    ['{{ !($steps.qa.output == "x") }}', 'x', 'no'],
  ])('%s of %s: %s', async (condition, output, expected) => {
    const ran = await runPipeline(file(condition), (step) => (step === 'qa' ? output : 'x'), { prompt: 'Go' });
    expect(ran.asked[1]?.step).toBe(expected);
  });

  it('one that is no boolean fails with the words of the document', async () => {
    const condition = '{{ $steps.qa.output + "x" }}';
    const ran = await runPipeline(file(condition), () => 'yes');
    expect(ran.error).toMatchObject({ code: 'SKEIN_TEMPLATE' });
    expect(ran.error?.message).toContain(
      `workflow: condition did not resolve to boolean: ${JSON.stringify(condition)}`,
    );
  });
});
