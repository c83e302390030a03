import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadWorkflowText } from 'skein/yaml';
import { ROUNDS, dag, pipeline, ran, step, wrong } from './loops.js';

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'skein-loops-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe('the round before in a condition or an expression of a loop of a DAG workflow', () => {
  const later = step('later', '{{steps.a.output}}', 'depends_on: [a]');
  const file = (...inside: readonly string[]): string =>
    dag(`{ id: l, ${ROUNDS}, steps: [${[...inside, later].join(', ')}] }`);

  it.each([
    ['an expression', step('a', "{{= steps.later.output == 'x' }}")],
    ['an expression about its end', step('a', '{{= steps.later.status }}')],
    ['a condition', step('a', 'A', 'condition: { step: later, contains: x }')],
    ['a condition with an expression', step('a', 'A', 'condition: { cel: steps.later.output == "x" }')],
  ])('%s can not read it: the hint says how, and is right', async (_, reader) => {
    const { problems } = await loadWorkflowText(file(reader), { cwd: '/' });
    const hint = problems.find(({ code }) => code === 'not-upstream')?.hint;
    expect(hint).toContain('for that of the round before, put {{steps.later.output?}} into a set step, and read that');
    const before = "{ id: before, type: set, values: { v: '{{steps.later.output?}}' } }";
    const reads = step(
      'a',
      'A',
      'depends_on: [before], condition: { cel: \'!has(steps.before.output.v) || steps.before.output.v != "3"\' }',
    );
    const { asked } = await ran(file(before, reads), { a: ['1', '2'], later: ['1', '3', 'DONE'] });
    expect(asked.map((each) => each.slice(0, 9))).toEqual([
      'l#1/a: A',
      'l#1/later',
      'l#2/a: A',
      'l#2/later',
      'l#3/later',
    ]);
  });

  it('a text can, and so can the step itself', async () => {
    const { problems } = await loadWorkflowText(file(step('a', '{{steps.a.output}}')), { cwd: '/' });
    expect(problems.map(({ hint }) => hint)).toContain('write steps.a.output? for that of the round before');
  });
});

describe('[issue 14] what stands in a loop of a DAG workflow', () => {
  it('runs side by side, and one that is skipped is empty, also in the next round', async () => {
    const fix = step('fix', 'Fix.', "depends_on: [check], condition: { step: check, contains: 'no' }");
    const sum = step('sum', '{{steps.a.output}} {{steps.fix.output}} {{steps.fix.output?}}', 'depends_on: [a, fix]');
    const again = step('again', '{{steps.fix.output?}}', 'depends_on: [sum]');
    const inside = [step('a', 'A.'), step('check', 'Ok?'), fix, sum, again].join(', ');
    const says = { a: ['a'], check: ['no', 'yes'], fix: ['fixed', 'FIXED'], again: ['1', '2', 'DONE'] };
    const { asked } = await ran(dag(`{ id: l, ${ROUNDS}, steps: [${inside}] }`), says);
    expect(asked.filter((each) => /(?:sum|fix):/.test(each))).toEqual([
      'l#1/fix: Fix.',
      'l#1/sum: a fixed fixed',
      'l#2/sum: a  ',
      'l#3/sum: a  ',
    ]);
    expect(asked.filter((each) => each.includes('again'))).toEqual(['l#1/again: fixed', 'l#2/again: ', 'l#3/again: ']);
  });

  it('is another loop, and an expression ends it', async () => {
    const inner = `{ id: inn, type: loop, until: "steps.x.output.hasLine('STOP')", max_rounds: 3, steps: [${step('x', '{{inputs.t}} {{steps.x.output?}} {{steps.y.output?}}')}] }`;
    const outer = `{ id: out, type: loop, until: "size(steps.inn.outputs.x.output) > 4 && steps.y.output.ok", max_rounds: 3, steps: [${inner}, ${step('y', '{{steps.inn.outputs.x.output}}', 'depends_on: [inn]')}] }`;
    const text = dag(outer, step('end', '{{steps.out.outputs.inn.outputs.x.output}}', 'depends_on: [out]'));
    const says = { x: ['a', 'STOP', 'b', 'STOP'], y: ['{"ok": false}', '{"ok": true}'] };
    const { outcome, error } = await ran(`${text}inputs: { t: {} }\n`, says, { inputs: { t: 'T' } });
    expect(error?.message).toContain('did not end within its 3 rounds');
    expect(outcome).toBe('failed');
    const longer = { ...says, x: ['a', 'STOP', 'b', 'STOP\nhere'] };
    const good = await ran(`${text}inputs: { t: {} }\n`, longer, { inputs: { t: 'T' } });
    expect(good.asked).toEqual([
      'out#1/inn#1/x: T  ',
      'out#1/inn#2/x: T a ',
      'out#1/y: STOP',
      'out#2/inn#1/x: T  {"ok": false}',
      'out#2/inn#2/x: T b {"ok": false}',
      'out#2/y: here',
      'end: here',
    ]);
  });

  it('ends when a step that gives the verdict has it, though it was skipped before', async () => {
    const judge = step('judge', 'Judge.', "depends_on: [a], condition: { step: a, contains: 'ready' }");
    const loop = `{ id: l, type: loop, until: steps.judge.output.ok, max_rounds: 3, steps: [${step('a', 'A.')}, ${judge}] }`;
    const { asked, outcome } = await ran(dag(loop), { a: ['not yet', 'ready'], judge: ['{"ok": true}'] });
    expect([outcome, asked]).toEqual(['succeeded', ['l#1/a: A.', 'l#2/a: A.', 'l#2/judge: Judge.']]);
  });

  it('shares a conversation with what is around it, and chooses', async () => {
    const talk = step('x', 'And?', 'conversation: desk');
    const { messages } = await ran(
      dag(
        step('first', 'Hello', 'conversation: desk'),
        `{ id: l, ${ROUNDS}, depends_on: [first], steps: [${talk}] }`,
        step('end', 'Bye', 'conversation: desk, depends_on: [l]'),
      ),
      { first: ['hi'], x: ['one', 'DONE'] },
    );
    expect(messages).toEqual([2, 4, 6, 8]);
  });

  it('is called by a pipeline, and its output is that of the call', async () => {
    const inside = [step('x', 'X.'), step('y', 'Y.', 'depends_on: [x]')].join(', ');
    await writeFile(join(cwd, 'dag.yaml'), dag(`{ id: l, ${ROUNDS}, keep: before, steps: [${inside}] }`));
    const call = '{ id: c, type: call, file: dag.yaml }';
    await writeFile(
      join(cwd, 'calls.yaml'),
      pipeline(call, '{ id: end, type: agent, name: w, prompt: "{{ $steps.c.output }}" }'),
    );
    const { asked } = await ran('calls.yaml', { y: ['good', 'DONE'] }, {}, cwd);
    expect(asked.at(-1)).toBe('end: good');
  });

  it('is supervised as the file says, or as a whole, or not at all', async () => {
    const { plan } = await loadWorkflowText(
      `${dag(
        `{ id: on, ${ROUNDS}, steps: [${step('a', 'A.')}] }`,
        `{ id: off, ${ROUNDS}, supervise: false, steps: [${step('b', 'B.')}] }`,
        `{ id: whole, ${ROUNDS}, supervise: { instruction: Do it. }, steps: [${step('c', 'C.', 'supervise: false')}] }`,
      )}supervise: { model: own/judge }\n`,
      { file: 'w.yaml', cwd },
    );
    const models = plan?.nodes.map((node) => {
      const [inner] = 'plan' in node ? node.plan.nodes : [];
      return [node.supervise?.model, inner?.supervise?.model];
    });
    expect(models).toEqual([
      [undefined, 'own/judge'],
      [undefined, undefined],
      ['own/judge', undefined],
    ]);
  });
});

describe('[issue 14] [bad input] a loop of a DAG workflow is refused', () => {
  const body = `steps: [${step('x', 'X.')}]`;

  it.each([
    ['without an end', `type: loop, max_rounds: 3, ${body}`, 'missing-until: nothing says when step "l" ends'],
    ['without a cap', `type: loop, until: { line: DONE }, ${body}`, 'unbounded-loop: step "l" has no bound'],
    ['without steps', 'type: loop, until: { line: DONE }, max_rounds: 3', 'no-steps: step "l" has no steps'],
    ['of another type', `type: mop, ${body}`, 'unknown-value: type of step "l" is "mop"'],
    ['with keys of another type', `${ROUNDS}, prompt: x, ${body}`, 'unknown-key: unknown key "prompt"'],
    ['that reads what it does not have', `type: loop, until: steps.z.output, max_rounds: 3, ${body}`, 'unknown-step'],
    ['that reads itself', `type: loop, until: steps.l.output, max_rounds: 3, ${body}`, 'refers to the loop around it'],
    ['that reads what comes later', `type: loop, until: steps.end.output, max_rounds: 3, ${body}`, 'not-upstream'],
    ['whose rounds are no reference', `${ROUNDS}, rounds: five, ${body}`, 'bad-reference: rounds of step "l"'],
    ['whose step has the id of another', `${ROUNDS}, steps: [${step('end', 'X.')}]`, 'duplicate-step'],
    [
      'whose steps wait for what is outside',
      `${ROUNDS}, steps: [${step('x', 'X.', 'depends_on: [s]')}]`,
      'does not have',
    ],
    ['whose step reads itself', `${ROUNDS}, steps: [${step('x', '{{steps.x.output}}')}]`, 'refers to its own output'],
    [
      'whose steps wait for each other',
      `${ROUNDS}, steps: [${step('x', 'X.', 'depends_on: [y]')}, ${step('y', 'Y.', 'depends_on: [x]')}]`,
      'cycle: these steps wait for each other: ',
    ],
  ])('%s', async (_, keys, message) => {
    const found = await wrong(dag(step('s', 'S.'), `{ id: l, ${keys} }`, step('end', 'E.', 'depends_on: [l]')));
    expect(found.join('\n')).toContain(message);
  });

  it('by who reads its steps without its name', async () => {
    const loop = `{ id: l, ${ROUNDS}, ${body} }`;
    const { problems } = await loadWorkflowText(dag(loop, step('e', '{{steps.x.output}}', 'depends_on: [l]')), { cwd });
    expect(problems.map(({ hint }) => hint)).toEqual(['write steps.l.outputs.x.output']);
  });
});

describe('a loop of a DAG workflow that ends with a step without output', () => {
  const inside = [step('a', 'A {{steps.a.output?}}'), '{ id: nap, type: wait, depends_on: [a], for: 1ms }'].join(', ');
  const loop = (until: string): string => `{ id: l, type: loop, until: ${until}, max_rounds: 3, steps: [${inside}] }`;
  const until = '"steps.a.output == \'ok\'"';
  const after = (prompt: string, more = ''): string => step('b', prompt, `depends_on: [l]${more}`);

  it('runs, and its steps can be read by a text and by an expression', async () => {
    const condition = ', condition: { cel: "steps.l.outputs.a.output == \'ok\'" }';
    const says = { a: ['no', 'ok'] };
    const { asked } = await ran(dag(loop(until), after('{{steps.l.outputs.a.output}}', condition)), says);
    expect(asked).toEqual(['l#1/a: A ', 'l#2/a: A no', 'b: ok']);
  });

  it.each([
    ['a text', dag(loop(until), after('{{steps.l.output}}'))],
    ['a condition', dag(loop(until), after('B', ', condition: { step: l, contains: x }'))],
    ['an expression', dag(loop(until), after('{{= size(steps.l.output) }}'))],
  ])('has none itself: the hint says what to read instead: %s', async (_, file) => {
    const { problems } = await loadWorkflowText(file, { cwd: '/' });
    const { message, hint } = problems.find(({ code }) => code === 'missing-output') ?? {};
    expect([message, hint]).toEqual([
      'step "b" refers to "l", which has no output',
      'the last step of the loop gives nothing: write steps.l.outputs.a.output',
    ]);
  });

  it('can not end with a line of it', async () => {
    const { problems } = await loadWorkflowText(dag(loop('{ line: DONE }')), { cwd: '/' });
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['missing-output', 'step "l" refers to "nap", which has no output'],
    ]);
  });
});
