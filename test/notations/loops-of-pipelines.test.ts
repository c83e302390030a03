import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUNDS, pipeline, ran, wrong } from './loops.js';

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'skein-loops-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe('[issue 14] what stands in a loop of a pipeline', () => {
  it('is a list, with an item in each round', async () => {
    const all = '{ id: all, type: agent, name: l, prompt: List. }';
    const each =
      '{ id: each, type: map, over: "{{ $steps.all.output.all }}", steps: [{ id: w, type: agent, name: w, prompt: "{{ $item }}" }] }';
    const sum = '{ id: sum, type: agent, name: w, prompt: "{{ $steps.each.output }}" }';
    const says = { all: ['{"all": ["a", "b"]}', '{"all": ["c"]}'], w: ['1', '2', '3'], sum: ['more', 'DONE'] };
    const { asked, outcome } = await ran(pipeline(`{ id: l, ${ROUNDS}, steps: [${all}, ${each}, ${sum}] }`), says);
    expect([outcome, asked]).toEqual([
      'succeeded',
      [
        'l#1/all: List.',
        'l#1/each[0]/w: a',
        'l#1/each[1]/w: b',
        'l#1/sum: ["1","2"]',
        'l#2/all: List.',
        'l#2/each[0]/w: c',
        'l#2/sum: ["3"]',
      ],
    ]);
  });

  it('is another loop, which begins anew in each round, and a condition with a jump', async () => {
    const inner = `{ id: in, ${ROUNDS}, steps: [{ id: w, type: agent, name: w, prompt: "{{ $steps.w.output }}" }] }`;
    const check = '{ id: check, type: agent, name: l, prompt: "{{ $steps.in.output }}" }';
    const jump = '{ type: condition, condition: "{{ $steps.check.output.ok }}", false: { goto: check } }';
    const last = '{ id: last, type: agent, name: w, prompt: Well? }';
    const says = { w: ['a', 'b DONE\nDONE', 'DONE'], check: ['{"ok": false}', '{"ok": true}'], last: ['no', 'DONE'] };
    const steps = [inner, check, jump, last].join(', ');
    const { asked } = await ran(pipeline(`{ id: out, ${ROUNDS}, steps: [${steps}] }`), says);
    expect(asked.map((each) => each.split(':')[0])).toEqual([
      'out#1/in#1/w',
      'out#1/in#2/w',
      'out#1/check',
      'out#1/check#2',
      'out#1/last',
      'out#2/in#1/w',
      'out#2/check',
      'out#2/last',
    ]);
  });

  it('is a file that is called, and a file with a loop is called', async () => {
    const inner = `{ id: l, ${ROUNDS}, keep: before, steps: [{ id: w, type: agent, name: w, prompt: "{{ $prompt }}" }] }`;
    await writeFile(join(cwd, 'inner.yaml'), pipeline(inner));
    const call = '{ id: c, type: call, file: inner.yaml, prompt: Go }';
    const says = { w: ['a', 'DONE', 'b', 'DONE'], again: ['no', 'DONE'], end: ['end'] };
    const again = '{ id: again, type: agent, name: w, prompt: "{{ $steps.c.output }}" }';
    const outer = pipeline(`{ id: o, ${ROUNDS}, steps: [${call}, ${again}] }`);
    await writeFile(join(cwd, 'outer.yaml'), outer);
    const { asked, outcome } = await ran('outer.yaml', says, {}, cwd);
    expect([outcome, asked]).toEqual([
      'succeeded',
      ['o#1/c/l#1/w: Go', 'o#1/c/l#2/w: Go', 'o#1/again: a', 'o#2/c/l#1/w: Go', 'o#2/c/l#2/w: Go', 'o#2/again: b'],
    ]);
  });

  it('shares a conversation with what is around it', async () => {
    const talk = '{ id: w, type: agent, name: w, conversation: desk, prompt: And? }';
    const { messages } = await ran(
      pipeline(
        '{ id: first, type: agent, name: w, conversation: desk, prompt: Hello }',
        `{ id: l, ${ROUNDS}, steps: [${talk}] }`,
        '{ id: end, type: agent, name: w, conversation: desk, prompt: Bye }',
      ),
      { first: ['hi'], w: ['one', 'DONE'] },
    );
    expect(messages).toEqual([2, 4, 6, 8]);
  });
});

describe('[issue 14] [bad input] a loop of a pipeline is refused', () => {
  const body = 'steps: [{ id: w, type: agent, name: w }]';

  it.each([
    ['without an end', `type: loop, max_rounds: 3, ${body}`, 'missing-until: nothing says when step "l" ends'],
    ['without a cap', `type: loop, until: { line: DONE }, ${body}`, 'unbounded-loop: step "l" has no bound'],
    ['with an empty line', `type: loop, until: { line: "" }, max_rounds: 3, ${body}`, 'missing-until'],
    ['with two lines', `type: loop, until: { line: "a\\nb" }, max_rounds: 3, ${body}`, 'bad-line'],
    ['without steps', `type: loop, until: { line: DONE }, max_rounds: 3, steps: []`, 'empty-block'],
    ['that reads what it does not have', `type: loop, until: "{{ $steps.x.output }}", max_rounds: 3, ${body}`, 'x'],
    ['that reads itself', `type: loop, until: "{{ $steps.l.output }}", max_rounds: 3, ${body}`, 'not-upstream'],
    ['that reads what comes later', `type: loop, until: "{{ $steps.end.output }}", max_rounds: 3, ${body}`, 'not-up'],
    ['whose end is no value', `type: loop, until: "true", max_rounds: 3, ${body}`, 'bad-condition'],
    ['whose rounds are no reference', `${ROUNDS}, rounds: five, ${body}`, 'bad-reference'],
    ['that is left by a jump', `${ROUNDS}, steps: [{ id: w, type: agent, name: w }, { goto: end }]`, 'bad-jump'],
    [
      'whose last step has no output',
      `${ROUNDS}, steps: [{ id: p, type: parallel, steps: [{ type: agent, name: w }, { type: agent, name: w }] }]`,
      'loop-result: until of step "l" looks for a line, and step "p" does not have exactly one output',
    ],
  ])('%s', async (_, keys, message) => {
    const found = await wrong(pipeline(`{ id: l, ${keys} }`, '{ id: end, type: agent, name: w }'));
    expect(found.join('\n')).toContain(message);
  });
});
