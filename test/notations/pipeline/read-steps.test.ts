import { describe, expect, it } from 'vitest';
import { stepsOf, told, wrong } from './read-pipeline.js';

const FIRST = '  - {type: agent, name: a, id: x}\n';

describe('what a step must have', () => {
  it.each([
    [
      'a type',
      '  - {name: a}\n',
      '5:5 error missing-type',
      'workflow steps[0]: step requires type (add "type: agent")',
    ],
    ['a type of its own', '  - {file: f}\n', '5:5 error missing-type', 'step requires type (add "type: call")'],
    ['a type, spelt well', '  - {tpye: agent, name: a}\n', '5:6 error unknown-key', 'did you mean "type"?'],
    ['a known type', '  - {type: agnet}\n', '5:12 error unknown-value', 'unknown type "agnet" (did you mean "agent"?)'],
    ['a type that is text', '  - {type: [agent]}\n', '5:12 error unknown-value', 'unknown type a list'],
    ['keys', '  - text\n', '5:5 error wrong-type', 'workflow steps[0]: a step must be a map, not text'],
    [
      'the name of an agent',
      '  - {type: agent}\n',
      '5:5 error missing-agent',
      'workflow steps[0]: agent step requires name',
    ],
    ['a name that is not blank', '  - {type: agent, name: " "}\n', '5:25 error missing-agent', 'requires name'],
    ['known keys', '  - {type: agent, name: a, promt: x}\n', '5:28 error unknown-key', 'did you mean "prompt"?'],
    [
      'keys of its type',
      '  - {type: agent, name: a, steps: []}\n',
      '5:28 error unknown-key',
      'known keys: id, type, name',
    ],
    [
      'a condition',
      `${FIRST}  - {type: condition, true: {goto: x}}\n`,
      '6:5 error missing-condition',
      'steps[1]: condition step requires condition',
    ],
    ['a jump with a target', '  - {type: goto}\n', '5:5 error missing-target', 'goto step requires goto'],
    ['one target', '  - {goto: [a]}\n', '5:12 error wrong-type', 'goto of steps[0] must be text'],
    [
      'a list to go through',
      '  - {type: map, steps: [{type: agent, name: a}]}\n',
      '5:5 error missing-over',
      'nothing says what steps[0] goes through',
    ],
    ['a question', '  - {type: ask}\n', '5:5 error missing-question', 'steps[0] asks nothing'],
    ['a file', '  - {type: call}\n', '5:5 error missing-file', 'steps[0] calls no file'],
  ])('%s', (_, text, place, words) => {
    expect(wrong(text)).toEqual([place]);
    expect(told(text)[0]).toContain(words);
  });

  it('every problem of a file is told at once, each at its place', () => {
    const text = `  - {type: agent}
  - type: parallel
    steps:
      - {type: agnet}
      - {type: condition, true: [{type: agent}]}
  - {goto: }
`;
    expect(wrong(text)).toEqual([
      '5:5 error missing-agent',
      '8:16 error unknown-value',
      '9:9 error missing-condition',
      '9:34 error missing-agent',
      '10:12 error missing-target',
    ]);
    expect(told(text)[3]).toContain('workflow steps[1].steps[1].true[0]: agent step requires name');
  });
});

describe('empty blocks', () => {
  it.each([
    ['parallel without steps', '  - {type: parallel}\n', '5:5', 'workflow steps[0]: parallel step requires steps'],
    ['parallel with an empty list', '  - {type: parallel, steps: []}\n', '5:29', 'parallel step requires steps'],
    ['a map without steps', '  - {type: map, over: $item}\n', '5:5', 'map step requires steps'],
    ['a condition without branches', `${FIRST}  - {type: condition, condition: c}\n`, '6:5', 'requires true or false'],
    [
      'an empty branch',
      `${FIRST}  - {type: condition, condition: c, true: []}\n`,
      '6:43',
      'steps[1].true: the branch is empty',
    ],
    [
      'a branch without value',
      `${FIRST}  - {type: condition, condition: c, false: }\n`,
      '6:44',
      'steps[1].false: the branch is empty',
    ],
    ['choices', '  - {type: ask, question: q, choices: []}\n', '5:39', 'choices of steps[0] is empty'],
  ])('%s', (_, text, place, words) => {
    expect(wrong(text)).toEqual([`${place} error empty-block`]);
    expect(told(text)[0]).toContain(words);
  });

  it('what is no list is another mistake', () => {
    expect(wrong('  - {type: parallel, steps: {}}\n')).toEqual(['5:29 error wrong-type']);
    expect(wrong(`${FIRST}  - {type: condition, condition: c, true: x}\n`)).toEqual(['6:43 error wrong-type']);
  });
});

describe('ids', () => {
  const ids = (text: string): readonly string[] =>
    stepsOf(text).flatMap(function of(step): readonly string[] {
      if (step.type === 'condition')
        return [step.id, ...step.cases.flatMap(({ steps }) => steps.flatMap(of)), ...step.otherwise.flatMap(of)];
      if (step.type === 'parallel' || step.type === 'map') return [step.id, step.steps.flatMap(of)].flat();
      return [step.id];
    });

  it('by position count from 1, are named after the type, and in a branch after the condition', () => {
    const text = `  - {type: agent, name: a}
  - type: parallel
    steps: [{type: agent, name: a}, {type: agent, name: a}]
  - type: condition
    condition: c
    true: [{type: agent, name: b, prompt: p}, {goto: step_1}]
    false: [{type: condition, condition: c, true: [{type: ask, question: q}]}]
  - {type: condition, id: named, condition: c, false: {goto: 0}}
  - {type: map, over: o, steps: [{type: agent, name: a}]}
  - {type: ask, question: q}
  - {type: call, file: f}
`;
    const branches = 'cond_3 cond_3_true_1 cond_3_true_2 cond_3_false_1 cond_3_false_1_true_1';
    expect(ids(text).join(' ')).toBe(
      `step_1 par_2 step_1 step_2 ${branches} named named_false_1 map_5 step_1 ask_6 call_7`,
    );
  });

  it('by position never take the place of written ones, wherever those stand in the block', () => {
    const text = `  - {type: agent, name: a}
  - {type: agent, name: a, id: step_1}
  - {type: condition, condition: c, true: [{type: agent, name: b, id: step_5, prompt: p}]}
  - {type: agent, name: a, id: step_1_2}
  - {type: agent, name: b}
`;
    expect(ids(text)).toEqual(['step_1_3', 'step_1', 'cond_3', 'step_5', 'step_1_2', 'step_5_2']);
  });

  it('that cannot be addressed are problems, each with its place', () => {
    const bad = ['a.b', '"a b"', 'a/b', '-a', 'ü', '""', '__proto__', '[x]', 'x'.repeat(65)];
    const text = bad.map((id) => `  - {type: agent, name: a, id: ${id}}\n`).join('');
    expect(wrong(text)).toEqual([
      ...['5', '6', '7', '8', '9', '10'].map((line) => `${line}:32 error bad-name`),
      '11:32 error forbidden-name',
      '12:32 error wrong-type',
      '13:32 error bad-name',
    ]);
  });

  it('that occur twice in a block are a problem at the second one', () => {
    expect(wrong(FIRST + FIRST)).toEqual(['6:32 error duplicate-step']);
    expect(told(FIRST + FIRST)).toEqual(['there are two steps with the id "x" (the first one is on line 5)']);
    const branch = (id: string): string =>
      `${FIRST}  - {type: condition, id: c, condition: c, true: [{type: agent, name: b, id: ${id}}]}\n`;
    expect(wrong(branch('x'))).toEqual(['6:78 error duplicate-step']);
    expect(told(branch('x'))[0]).toContain('to continue there write goto: x');
    expect(wrong(branch('c'))).toEqual(['6:78 error duplicate-step']);
  });

  it('may be the same in different blocks', () => {
    expect(ids(`${FIRST}  - {type: parallel, steps: [{type: agent, name: a, id: x}]}\n`)).toEqual(['x', 'par_2', 'x']);
  });

  it('of conditions within conditions stay short, and unique', () => {
    const depth = 35;
    const text = `${'[{type: condition, condition: c, true: '.repeat(depth)}[{goto: 0}]${'}]'.repeat(depth)}`;
    const all = ids(`  ${text}\n`);
    expect(new Set(all).size).toBe(depth + 1);
    for (const id of all) expect(id.length).toBeLessThanOrEqual(90);
  });

  it('steps within steps have a bound', () => {
    const text = `${'[{type: parallel, steps: '.repeat(45)}[]${'}]'.repeat(45)}`;
    expect(wrong(`  ${text}\n`)).toEqual([expect.stringMatching(/^5:\d+ error too-deep$/)]);
  });
});

describe('jumps', () => {
  const branch = (steps: string): string =>
    `  - {type: agent, name: a, id: x}\n  - {type: agent, name: b, id: y}\n  - {type: condition, condition: c, false: ${steps}}\n`;
  const firstOf = (text: string): unknown => {
    const condition = stepsOf(text).at(-1);
    return condition?.type === 'condition' ? condition.otherwise[0] : undefined;
  };

  it.each(['{goto: x}', '[{goto: x}]', '[{type: goto, goto: x}]', '[{id: x, type: agent, name: a}]'])('%s', (steps) => {
    expect(firstOf(branch(steps))).toMatchObject({ type: 'goto', id: 'cond_3_false_1', target: { text: 'x' } });
  });

  it('a step with anything else than id and agent is no jump', () => {
    for (const more of ['prompt: p', 'timeout: 5s']) {
      expect(wrong(branch(`[{id: x, type: agent, name: a, ${more}}]`))).toEqual(['7:50 error duplicate-step']);
    }
    expect(wrong(branch('[{id: x, type: agent, name: b}]'))).toContain('7:50 error duplicate-step');
  });

  it('an agent that has run before at the end of a branch gets a hint at the jump that may be meant', () => {
    const text = branch('[{id: back_to_x, type: agent, name: a}]');
    expect(wrong(text)).toEqual(['7:45 warning runs-once']);
    expect(told(text)).toEqual([
      'step "back_to_x" runs a once more and continues with the next step (to loop back to the step x, put goto: x in its place)',
    ]);
  });

  it('no hint for another agent, another task, or when more follows', () => {
    expect(wrong(branch('[{type: agent, name: a, prompt: Shorten it.}]'))).toEqual([]);
    expect(wrong(branch('[{type: agent, name: a}, {goto: y}]'))).toEqual([]);
    const sides = '{type: condition, condition: c, true: [{type: agent, name: a}], false: [{type: agent, name: a}]}';
    expect(wrong(`  - ${sides}\n`)).toEqual([]);
  });
});
