import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import type { Question } from '../../src/engine/ports/durable.js';
import type { Said } from './support/counted-agent.js';
import { countedRun, recordUntil } from './support/counted-agent.js';
import { outputOf, runAgent, tool } from './support/run-agent.js';

const TOLD: readonly Said[] = [
  {
    calls: [
      ['rm', '{"path":"a"}'],
      ['look', '{"path":"b"}'],
    ],
  },
  { text: 'Done.' },
];

/** A tool that must be allowed, one that need not, and what they did. */
function tools() {
  const did: string[] = [];
  const make = (name: string) =>
    tool(
      name,
      (input) => {
        did.push(`${name} ${input['path'] as string}`);
        return `${name} done`;
      },
      { effect: 'once' },
    );
  return { list: [make('rm'), make('look')], did };
}

const spec = { approve: ['rm'] };

describe('a call of a tool that must be allowed', () => {
  it('is made when a person allows it, who sees the exact call', async () => {
    const { list, did } = tools();
    const { result, step } = await countedRun({ said: TOLD, spec, tools: list, answer: () => 'allow' });
    expect(outputOf(result)).toBe('Done.');
    expect(did.toSorted()).toEqual(['look b', 'rm a']);
    expect(step.askedAs).toEqual(['ask:approve#1.1']);
    expect(step.asked).toEqual([
      {
        text: 'May the agent "reviewer" call rm?',
        choices: ['allow', 'deny'],
        schema: { enum: ['allow', 'deny'] },
        evidence: { tool: 'rm', input: { path: 'a' } },
      },
    ]);
    expect(step.of('tool.ended').find((note) => note.tool === 'rm')).toMatchObject({ output: 'rm done' });
  });

  it.each(['deny', 'yes', '', 'Allow', '2'])(
    'is not made for the answer %j, and the model is told so',
    async (answer) => {
      const { list, did } = tools();
      const { result, step, counts } = await countedRun({ said: TOLD, spec, tools: list, answer: () => answer });
      expect(outputOf(result)).toBe('Done.');
      expect(did).toEqual(['look b']);
      expect(step.effects).not.toContain('tool#1.1');
      expect(counts.requests[1]?.messages.at(-1)).toMatchObject({
        results: [{ isError: true, output: 'Error: a person refused this call' }, { isError: false }],
      });
    },
  );

  it('pauses the step when nobody can answer; the other calls of the turn are made, once', async () => {
    const { list, did } = tools();
    const paused = await countedRun({ said: TOLD, spec, tools: list });
    expect(paused.result).toMatchObject({
      type: 'paused',
      question: { text: 'May the agent "reviewer" call rm?', evidence: { tool: 'rm', input: { path: 'a' } } },
    });
    expect(did).toEqual(['look b']);
    const replay = paused.step.record;
    const after = await countedRun({ said: TOLD, spec, tools: list, replay, answer: () => 'allow' });
    expect(outputOf(after.result)).toBe('Done.');
    expect(did).toEqual(['look b', 'rm a']);
    expect(after.counts.turns).toEqual([2]);
  });

  it('asks again for another input', async () => {
    const asked: Question[] = [];
    for (const path of ['a', 'b']) {
      const said = [{ calls: [['rm', JSON.stringify({ path })] as const] }, { text: 'Done.' }];
      const { step } = await countedRun({ said, spec, tools: tools().list, answer: () => 'allow' });
      asked.push(...step.asked);
    }
    expect(asked[0]).not.toEqual(asked[1]);
  });

  it('asks nobody about input that is not JSON: it can do nothing', async () => {
    const { list, did } = tools();
    const said = [{ calls: [['rm', '{"path":'] as const] }, { text: 'Done.' }];
    const { step } = await countedRun({ said, spec, tools: list, answer: () => 'allow' });
    expect([step.asked, did]).toEqual([[], []]);
    expect(step.of('tool.ended')[0]?.output).toContain('is not JSON');
  });
});

describe('[XD6] a call that can’t be made is not put to a person', () => {
  const strict = (name: string, did: string[]) =>
    tool(name, () => String(did.push(name)), {
      effect: 'once',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    });

  it.each([
    ['input that does not match the schema', ['rm', '{"file":"a"}'] as const, 'does not match its schema'],
    ['an unknown tool', ['remove', '{"path":"a"}'] as const, 'there is no tool'],
    ['a tool of the step itself', ['ask_user', '{"text":"Why?"}'] as const, 'does not match its schema'],
  ])('%s', async (_, call, told) => {
    const did: string[] = [];
    const said: readonly Said[] = [{ calls: [call] }, { text: 'Done.' }];
    const { step, result } = await countedRun({
      said,
      spec: { approve: ['*', 'ask_user'], interactive: true },
      tools: [strict('rm', did)],
      answer: () => 'allow',
    });
    expect(outputOf(result)).toBe('Done.');
    expect(step.asked).toEqual([]);
    expect(did).toEqual([]);
    expect(step.of('tool.ended')[0]?.output).toContain(told);
  });

  it('one that can be made is asked about once, and made once', async () => {
    const did: string[] = [];
    const said: readonly Said[] = [{ calls: [['rm', '{"path":"a"}']] }, { text: 'Done.' }];
    const { step } = await countedRun({ said, spec, tools: [strict('rm', did)], answer: () => 'allow' });
    expect(step.askedAs).toEqual(['ask:approve#1.1']);
    expect(did).toEqual(['rm']);
  });

  it.each([
    ['input that does not match the schema', 'rm', '{"file":"a"}', 'does not match its schema'],
    ['input that is not JSON', 'rm', '{"path":', 'is not JSON'],
    ['an unknown tool', 'remove', '{"path":"a"}', 'there is no tool'],
    ['a tool of the step itself', 'ask_user', '{"text":"Why?"}', 'does not match its schema'],
  ])('from inside of a model call: %s', async (_, name, input, told) => {
    const did: string[] = [];
    const answered = await dispatched({ name, input }, strict('rm', did));
    expect(outputOf(answered.result)).toContain(told);
    expect([answered.step.asked, did]).toEqual([[], []]);
    const good = await dispatched({ name: 'rm', input: '{"path":"a"}' }, strict('rm', did));
    expect([good.step.askedAs, did]).toEqual([['model#1/approve#1'], ['rm']]);
  });
});

describe('which tools must be allowed', () => {
  it('* means all but those of the step itself', async () => {
    const said = [
      { calls: [['look', '{"path":"b"}'] as const, ['ask_user', '{"question":"Why?"}'] as const] },
      { text: 'D' },
    ];
    const answer = (question: Question) => (question.text === 'Why?' ? 'so' : 'allow');
    const all = { approve: ['*'], interactive: true };
    const { step } = await countedRun({ said, spec: all, tools: tools().list, answer });
    expect(step.asked.map((question) => question.text).toSorted()).toEqual([
      'May the agent "reviewer" call look?',
      'Why?',
    ]);
  });

  it('a tool can demand it by itself', async () => {
    const { did } = tools();
    const rm = tool('rm', () => 'x', { approve: true });
    const { step } = await countedRun({ said: TOLD, tools: [rm, tool('look', () => 'y')], answer: () => 'deny' });
    expect([step.askedAs, did]).toEqual([['ask:approve#1.1'], []]);
  });

  it('one that came up after the step began, and must be allowed, is refused', async () => {
    const record = await recordUntil('tool#1.1', { said: TOLD, tools: [tool('look', () => 'y')] });
    let ran = false;
    const rm = tool('rm', () => String((ran = true)), { approve: true });
    const replay = new Map([...record].filter(([name]) => name !== 'tool#1.1'));
    const { step } = await countedRun({ said: TOLD, tools: [rm, tool('look', () => 'y')], replay });
    expect(ran).toBe(false);
    expect(step.of('tool.ended').find((note) => note.tool === 'rm')?.output).toContain('a person must allow it');
  });
});

/** A back end with a loop of its own, which makes one call and answers with its result. */
function looping(call: { readonly name: string; readonly input: string }): Model {
  return {
    id: 'own/m',
    async *stream(request) {
      const { output } = await request.dispatch({ id: '1', ...call });
      yield { type: 'text', text: output };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

/** One call of such a back end, in a step where everything must be allowed, and is. */
function dispatched(call: Parameters<typeof looping>[0], definition: ReturnType<typeof tool>) {
  return runAgent({
    spec: { approve: ['*', 'ask_user'], interactive: true, models: ['own/m'] },
    models: { providers: { own: () => looping(call) } },
    tools: [definition],
    answer: () => 'allow',
  });
}

it('a back end with a loop of its own asks from inside of its call', async () => {
  const { list, did } = tools();
  const backEnd = looping({ name: 'rm', input: '{"path":"a"}' });
  const run = (answer?: () => string) =>
    runAgent({
      spec: { ...spec, models: ['own/m'] },
      models: { providers: { own: () => backEnd } },
      tools: list,
      ...(answer === undefined ? {} : { answer }),
    });
  expect((await run()).result).toMatchObject({ type: 'paused', question: { evidence: { tool: 'rm' } } });
  const denied = await run(() => 'deny');
  expect(outputOf(denied.result)).toBe('Error: a person refused this call');
  expect([did, denied.step.askedAs]).toEqual([[], ['model#1/approve#1']]);
  expect(outputOf((await run(() => 'allow')).result)).toBe('rm done');
});
