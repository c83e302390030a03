import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent, StepNote } from '../../src/events/event.js';
import { conditionText } from '../../src/lang/condition-text.js';
import { checkPlan } from '../../src/plan/checks.js';
import { diffPlans } from '../../src/plan/diff.js';
import { toMermaid } from '../../src/plan/draw.js';
import type { LoopNode, Plan } from '../../src/plan/plan.js';
import { plan, task } from './plans.js';

const CONVERGED = { op: 'line', value: { channel: 'text' }, line: 'CONVERGED' } as const;

/** A round writes a text. */
const inner: Plan = plan({
  name: 'round',
  nodes: [task('write', { output: 'text' })],
  inputs: [
    { channel: 'text', name: 'text', required: false },
    { channel: 'history', name: 'history', required: false },
  ],
});

function loopPlan(more: Partial<LoopNode> = {}): Plan {
  const node: LoopNode = {
    id: 'refine',
    kind: 'loop',
    plan: inner,
    inputs: {},
    output: 'text',
    until: [CONVERGED],
    maxRounds: 9,
    onMaxRounds: 'continue',
    ...more,
  };
  return { ...plan({ nodes: [node] }), inputs: [{ channel: 'n', name: 'n', required: false }], openInputs: false };
}

/** Runs a loop whose rounds give these texts, the last one again and again. */
async function refined(texts: readonly unknown[], more: Partial<LoopNode> = {}, inputs: Record<string, unknown> = {}) {
  const seen: unknown[] = [];
  const notes: StepNote[] = [];
  const write = (state: Readonly<Record<string, unknown>>): unknown => {
    seen.push(state['history']);
    return texts[Math.min(seen.length, texts.length) - 1];
  };
  const listen = (event: SkeinEvent): void => {
    if (event.type === 'step.note' && event.path === 'refine') notes.push(event.note);
  };
  const options = { bindings: { 'refine/write': write }, inputs, listeners: [listen] };
  const { outcome, error, state } = await startRun(loopPlan(more), options).result;
  return { outcome, error, text: state['text'], rounds: seen.length, seen, notes };
}

const BEFORE = { keep: 'before' } as const;

describe('[A26] [decision 4] a loop until a line', () => {
  test.each([
    ['its own line', 'good\nCONVERGED', 1],
    ['a line with spaces and other line ends', 'good\r\n  CONVERGED \r\nbye', 1],
    ['[bad input] the word in a sentence', 'we have CONVERGED', 9],
    ['[bad input] the word after a mark', '> CONVERGED', 9],
    ['[bad input] another word', 'UNCONVERGED', 9],
    ['[bad input] "not"', 'NOT CONVERGED', 9],
    ['[bad input] another case', 'converged', 9],
  ])('ends with %s', async (_, text, rounds) => {
    expect((await refined([text])).rounds).toBe(rounds);
  });

  test('[addition 9] has the text of the round before as its result', async () => {
    const { text, rounds, outcome } = await refined(['one', 'two', 'CONVERGED'], BEFORE);
    expect([outcome, text, rounds]).toEqual(['succeeded', 'two', 3]);
    expect((await refined(['one', 'two', 'well: three\nCONVERGED'], BEFORE)).text).toBe('two');
  });

  test('[addition 9] keeps the text of the first round without the line', async () => {
    expect((await refined(['the answer\nCONVERGED\n'], BEFORE)).text).toBe('the answer');
    expect((await refined(['a\n CONVERGED\nb\nCONVERGED'], BEFORE)).text).toBe('a\nb');
  });

  test('[addition 9] fails when nothing is left of the first round', async () => {
    const { outcome, error } = await refined(['  CONVERGED\n'], BEFORE);
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_MODEL_EMPTY']);
    expect(error?.message).toBe('the first round of the loop \'refine\' gave nothing but "CONVERGED"');
  });

  test('without keep has the text itself', async () => {
    expect((await refined(['one', 'CONVERGED'])).text).toBe('CONVERGED');
  });
});

describe('[A28] a loop at its cap', () => {
  test('continues with the last round, and tells the cap', async () => {
    const { text, outcome, notes } = await refined(['a', 'b', 'c'], { ...BEFORE, maxRounds: 3 });
    expect([outcome, text]).toEqual(['succeeded', 'c']);
    expect(notes.at(-1)).toEqual({ kind: 'loop.capped', rounds: 3 });
  });
});

describe('[A31] rounds from a value', () => {
  const rounds = { channel: 'n', written: 'withinVar "n"' };

  test.each([
    ['a number', 2],
    ['a text', ' 2 '],
  ])('are %s', async (_, n) => {
    const run = await refined(['a', 'b', 'c'], { rounds }, { n });
    expect([run.text, run.rounds, run.notes.at(-1)]).toEqual(['b', 2, { kind: 'loop.capped', rounds: 2 }]);
  });

  test.each([
    ['nothing', undefined, 'withinVar "n" is unresolved: it has no value'],
    ['an empty text', '', 'withinVar "n" is unresolved: it has no value'],
    ['0', 0, 'withinVar "n" must be > 0, and is 0'],
    ['less', '-3', 'withinVar "n" must be > 0, and is -3'],
    ['no whole number', 1.5, 'withinVar "n" is not an integer: "1.5"'],
    ['a word', 'three', 'withinVar "n" is not an integer: "three"'],
    ['a list', [2], 'withinVar "n" is not an integer: "[2]"'],
    ['more than the cap', '10', 'withinVar "n" is 10, more than the cap of 9'],
    ['far more', '99999999999999999999', 'withinVar "n" is 99999999999999999999, more than the cap of 9'],
  ])('[bad input] fail the step without a round: %s', async (_, n, message) => {
    const run = await refined(['a'], { rounds }, n === undefined ? {} : { n });
    expect([run.outcome, run.error?.code, run.rounds]).toEqual(['failed', 'SKEIN_INPUT', 0]);
    expect(run.error?.message).toBe(`the rounds of the loop 'refine': ${message}`);
  });

  test('fail the run at the cap without onMaxRounds, which names both', async () => {
    const run = await refined(['a'], { rounds, onMaxRounds: 'fail' }, { n: 2 });
    expect(run.error?.message).toBe('the loop \'refine\' did not end within its 2 rounds of withinVar "n"');
  });

  test('are a reference that is checked, and the plan keeps its cap', () => {
    const unknown = checkPlan(loopPlan({ rounds: { channel: 'm' } }));
    expect(unknown.map(({ code, path }) => [code, path])).toEqual([['unknown-reference', 'nodes[0].rounds']]);
    const { maxRounds: _cap, ...uncapped } = loopPlan({ rounds }).nodes[0] as LoopNode;
    const open = { ...loopPlan(), nodes: [uncapped as LoopNode] };
    expect(checkPlan(open).map(({ code }) => code)).toEqual(['unbounded-loop']);
  });
});

describe('[issue 14] how much changes in a loop', () => {
  const told = (notes: readonly StepNote[]): readonly unknown[] =>
    notes.map((note) => {
      if (note.kind === 'loop.round') return [note.round, note.change];
      return note.kind === 'warning' ? `${note.code}: ${note.message}` : note.kind;
    });

  test('[addition 9] is the share of lines that the round before does not have', async () => {
    const texts = ['a\nb', 'a\nb\n\n c \nd', 'a\nb\nc', 'CONVERGED'];
    const { notes } = await refined(texts, BEFORE);
    expect(told(notes)).toEqual([
      [1, 1],
      [2, 0.5],
      [3, 0],
      [4, 0],
    ]);
  });

  test('[addition 9] a text that comes twice, and A B A B, are told and do not end the loop', async () => {
    const { notes, rounds } = await refined(['a', 'b', 'a', 'b', 'b', 'CONVERGED'], BEFORE);
    expect(rounds).toBe(6);
    expect(told(notes)).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
      'loop.oscillating',
      'loop.oscillating: round 4 gives the text of round 2, as round 3 did of round 1',
      [5, 0],
      'loop.repeated',
      'loop.repeated: round 5 gives the text of round 4',
      [6, 0],
    ]);
  });

  test('[addition 9] stopWhen: repeated ends it, without a warning', async () => {
    const { notes, rounds, text, outcome } = await refined(['a', 'b', 'b', 'c'], { stopWhen: 'repeated' });
    expect([outcome, rounds, text]).toEqual(['succeeded', 3, 'b']);
    expect(told(notes).slice(2)).toEqual([[3, 0], 'loop.repeated']);
  });

  test('stopWhen: repeated ends it also when nobody listens', async () => {
    let rounds = 0;
    const bindings = { 'refine/write': () => `same ${(rounds += 1) > 9 ? rounds : ''}` };
    await startRun(loopPlan({ stopWhen: 'repeated' }), { bindings }).result;
    expect(rounds).toBe(2);
  });

  test('is not told of rounds without texts', async () => {
    const { notes } = await refined([1, 1, 1], { maxRounds: 3 });
    expect(notes).toEqual([{ kind: 'loop.capped', rounds: 3 }]);
  });
});

describe('[A27] what a loop collects', () => {
  test('is a list of what the rounds so far gave', async () => {
    const { seen } = await refined(['one', 'two', 'CONVERGED'], { collect: { history: 'text' } });
    expect(seen).toEqual([undefined, ['one'], ['one', 'two']]);
  });

  test('is checked: what takes it must be an input, and something must write it', () => {
    const problems = checkPlan(loopPlan({ collect: { histori: 'text', text: 'txt' } }));
    expect(problems.map(({ code, path, hint }) => [code, path, hint])).toEqual([
      ['unknown-channel', 'nodes[0].collect.histori', 'did you mean "history"?'],
      ['unknown-channel', 'nodes[0].collect.text', 'did you mean "text"?'],
    ]);
  });
});

describe('loops as data', () => {
  test('what is said of rounds, results and ends is checked', () => {
    const odd = {
      keep: 'after',
      stopWhen: 'bored',
      rounds: 3,
      until: [{ op: 'line', value: { channel: 'text' }, line: ' a' }],
    } as unknown as Partial<LoopNode>;
    expect(checkPlan(loopPlan(odd)).map(({ path }) => path)).toEqual([
      'nodes[0].until[0].line',
      'nodes[0].rounds',
      'nodes[0].keep',
      'nodes[0].stopWhen',
    ]);
  });

  test('an edit of them is told', () => {
    const changed = { rounds: { channel: 'n' }, keep: 'before', stopWhen: 'repeated', collect: { history: 'text' } };
    const { steps } = diffPlans(loopPlan(), loopPlan(changed as Partial<LoopNode>));
    expect(steps.map(({ parts, effect }) => [[...parts].toSorted(), effect])).toEqual([
      [['collect', 'keep', 'rounds', 'stop'], 'course'],
    ]);
    const worded = loopPlan({ rounds: { channel: 'n', written: '$n' } });
    expect(diffPlans(loopPlan({ rounds: { channel: 'n' } }), worded).steps).toEqual([]);
  });

  test('they are drawn and said in words', () => {
    expect(conditionText(CONVERGED)).toBe('text has the line "CONVERGED"');
    expect(toMermaid(loopPlan({ rounds: { channel: 'n' } }))).toContain('n rounds, at most 9');
  });
});
