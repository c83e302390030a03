import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/lang/values.js';
import { agents, loadText, runPipeline, schema } from './run-pipeline.js';

const HEAD = `${agents('a', ['qa', schema('ok', 'score', 'tags')])}workflow:
  - {id: gen, type: agent, name: a}
  - {id: qa-check, type: agent, name: qa}
  - {id: par, type: parallel, steps: [{id: x, type: agent, name: qa}, {id: in, type: parallel, steps: [{id: y, type: agent, name: a}]}]}
`;

/** A file whose last step has this condition. The text between the quotes begins in line 8, column 35. */
const file = (condition: string): string =>
  `${HEAD}  - {type: condition, condition: '${condition}', true: [{id: then, type: agent, name: a, prompt: so}]}\n`;

async function conditionOf(text: string): Promise<Condition | undefined> {
  const { plan, problems } = await loadText(text);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan.routes[0]?.cases?.[0]?.when[0];
}

describe('conditions', () => {
  it.each([
    ['$steps.gen.output', 'steps.gen.output', undefined],
    ['{{$steps.qa-check.output.ok}}', 'steps.qa-check.output', ['ok']],
    ['{{ $steps.par.outputs[0].output.ok }}', 'steps.par/x.output', ['ok']],
    ['$steps.par.outputs.in.y.output', 'steps.par/in/y.output', undefined],
  ])('%s asks whether an output is true', async (text, channel, path) => {
    const value = path === undefined ? { channel } : { channel, path };
    expect(await conditionOf(file(text))).toMatchObject({ op: 'truthy', value, text });
  });

  it.each([
    ['$steps.gen.output == "ok"', 'steps.gen.output == "ok"'],
    ['!($steps.qa-check.output.ok)', '!(steps["qa-check"].output.ok)'],
    ['$steps.qa-check.output.score-1 > 2', 'steps["qa-check"].output.score-1 > 2'],
    [
      '$steps.qa-check.output.tags.exists(t, t == "$steps.x")',
      'steps["qa-check"].output.tags.exists(t, t == "$steps.x")',
    ],
    ['size($steps.gen.output)-1 > 2 && $prompt.contains("x")', 'size(steps.gen.output)-1 > 2 && prompt.contains("x")'],
    [
      '$steps.par.outputs[0].output.ok && $steps.par.outputs.in.y.output != ""',
      'steps.par.outputs.x.output.ok && steps.par.outputs["in"].outputs.y.output != ""',
    ],
    ['size($steps.par.order) == 2 && $prompt != ""', 'size(["x","in"]) == 2 && prompt != ""'],
  ])('%s is an expression', async (inside, expression) => {
    expect(await conditionOf(file(`{{ ${inside} }}`))).toMatchObject({
      op: 'cel',
      expression,
      text: `{{ ${inside} }}`,
    });
  });

  it('an expression sees outputs as data, under the names of references', async () => {
    const answers = (step: string): string =>
      step === 'qa-check' ? '{"ok": true, "score": 7, "tags": ["a", "b"]}' : step === 'gen' ? 'fine' : '{"ok": false}';
    const taken = async (inside: string): Promise<boolean> => {
      const ran = await runPipeline(file(`{{ ${inside} }}`), answers, {
        prompt: 'please',
      });
      expect(ran.error).toBeUndefined();
      return ran.asked.some(({ step }) => step === 'then');
    };
    expect(await taken('$steps.qa-check.output.score-1 == 6 && $steps.gen.output.startsWith("fi")')).toBe(true);
    expect(await taken('"b" in $steps.qa-check.output.tags && $prompt == "please"')).toBe(true);
    expect(await taken('$steps.par.outputs[0].output.ok')).toBe(false);
    expect(await taken('$steps.par.outputs.x.output.ok || $steps.qa-check.output.tags.size() > 2')).toBe(false);
  });

  it.each([
    ['$steps.gen', 'without ".output"; write $steps.gen.output'],
    ['true', 'write {{ $steps.ID.output }}'],
    ['{{ true }}', 'it reads nothing'],
    ['$env.X', 'known are $steps, $prompt'],
    ['{{ $env.X == "a" }}', 'known are $steps, $prompt'],
    ['{{ steps.gen.output == "a" }}', 'steps'],
    ['{{ $steps.gen.output == steps.x }}', 'write $steps.ID.output'],
    ['{{ $steps.gen.output == }}', ''],
    ['{{ $steps.gen.output.matches("a") }}', 'regular expressions'],
    ['$steps.gen.output == "a"', 'or an expression in {{ }}'],
  ])('%s never gets true or false', async (condition, hint) => {
    const { problems } = await loadText(file(condition));
    const errors = problems.filter(({ severity }) => severity === 'error');
    const message = `workflow: condition did not resolve to boolean: ${JSON.stringify(condition)}`;
    expect(errors).toMatchObject([{ code: 'bad-condition', message }]);
    expect(errors[0]?.hint).toContain(hint);
    expect(errors[0]?.at?.line).toBe(8);
  });

  it('a reference in an expression is checked like any other, at its own place', async () => {
    const { problems } = await loadText(file('{{ $steps.gen.output == $steps.genn.output }}'));
    const [error] = problems.filter(({ severity }) => severity === 'error');
    expect(error).toMatchObject({ code: 'unknown-step', hint: 'did you mean "gen"?', at: { line: 8, column: 59 } });
  });

  it('the item of a map can be asked about, within blocks too', async () => {
    const ran = await runPipeline(
      `${agents('a', 'b', ['l', schema('files')])}workflow:
  - {id: list, type: agent, name: l}
  - id: each
    type: map
    over: "{{ $steps.list.output.files }}"
    max_items: 5
    steps:
      - id: p
        type: parallel
        steps:
          - {id: c, type: condition, condition: "{{ $item.big }}", true: [{id: split, type: agent, name: b}]}
          - {id: d, type: condition, condition: "{{ $item.n > 1 }}", true: [{id: more, type: agent, name: b, prompt: "{{ $item.n }}"}]}
      - {id: end, type: agent, name: a}
`,
      (step) => (step === 'list' ? '{"files": [{"n": 1, "big": true}, {"n": 2}]}' : step),
    );
    expect(ran.error).toBeUndefined();
    const asked = ran.asked.map(({ step }) => step).toSorted();
    expect(asked).toEqual(['each[0]/end', 'each[0]/p/split', 'each[1]/end', 'each[1]/p/more', 'list']);
    expect(ran.prompt('each[1]/p/more')).toMatch(/\n\n2$/);
  });
});
