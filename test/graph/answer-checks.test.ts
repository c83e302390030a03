import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, estimateCalls, memoryStore } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import type { AnswerCheck, CheckInput } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from './support-agents.js';
import type { Said } from './support-agents.js';

interface Checked {
  readonly checks: readonly CheckInput[];
  readonly answers: readonly Said[];
  readonly output?: object;
}

const made: string[] = [];
const look = tool({
  name: 'look',
  inputSchema: { type: 'object' },
  effect: 'read',
  execute() {
    made.push('look');
    return 'seen';
  },
});

interface State {
  task: string;
  talk?: readonly { role: string; text?: string }[];
}

/** An agent with checks, and a node behind it. */
function checked({ checks, answers, output }: Checked) {
  made.length = 0;
  const { models, requests } = ownModels({ m: ({ caller }) => answers[caller.turn - 1] ?? 'too many turns' });
  const more = output === undefined ? {} : { output };
  const one = agent({ name: 'writer', model: 'own/m', tools: [look], checks, ...more } as never);
  const flow = graph<State>({ reducers: { talk: 'extend' } })
    .node('write', agentNode(one as never, { conversation: 'talk' }))
    .node('after', ({ write }: { write: unknown }) => `after ${JSON.stringify(write)}`)
    .setEntry('write');
  return { flow, models, requests };
}

/** What a text is told when the only check of it is this one; null: it passes. */
async function findingOf(check: CheckInput, text: string): Promise<string | null> {
  const { flow, models, requests } = checked({ checks: [check], answers: [text, 'second'] });
  await flow.run({ task: 'x' }, { models });
  const last = requests[1]?.messages.at(-1);
  return last?.role === 'user' ? (/^- (.*)$/m.exec(last.text)?.[1] ?? '') : null;
}

const words = (...banned: string[]) => ({ kind: 'bannedWords', words: banned }) as const;

describe('[A10] a check of an answer', () => {
  it.each([
    [words('lamp'), 'A Lamp!', 'the answer contains the banned word "lamp"'],
    [words('lamp', 'table'), 'a lampshade, tables, clamp', null],
    [words('c++'), 'We use C++.', 'the answer contains the banned word "c++"'],
    [words('größe'), 'DIE GRÖSSE', null],
    [words('größe'), 'DIE GRÖßE', 'the answer contains the banned word "größe"'],
    [words('old lamp'), 'an OLD LAMP, sold', 'the answer contains the banned word "old lamp"'],
    [{ kind: 'maxLength', characters: 5 }, '12345', null],
    [{ kind: 'maxLength', characters: 5 }, '😀😀😀😀😀', null],
    [{ kind: 'maxLength', characters: 5 }, '123456', 'the answer has 6 characters, and may have at most 5'],
    [{ kind: 'maxLength', tokens: 2 }, '123456789', 'the answer has about 3 tokens, and may have at most 2'],
    [{ kind: 'minLength', characters: 5 }, '1234', 'the answer has 4 characters, and must have at least 5'],
    [{ kind: 'maxSentences', sentences: 2 }, 'One is 1.5. Two!?', null],
    [{ kind: 'maxSentences', sentences: 2 }, 'One. Two! Three', 'the answer has 3 sentences, and may have at most 2'],
    [{ kind: 'requiredFields', fields: ['a', 'b'] }, '```json\n{"a":1,"b":null}\n```', 'the answer lacks "b"'],
    [{ kind: 'requiredFields', fields: ['Order', 'Sum'] }, 'order: 7', 'the answer lacks "Sum"'],
    [{ kind: 'requiredFields', fields: ['toString'] }, '{"a":1}', 'the answer lacks "toString"'],
    [{ kind: 'pattern', pattern: '^[A-Z]' }, 'lower', 'the answer does not match "^[A-Z]"'],
    [{ kind: 'pattern', pattern: '^[a-z]+$', ignoreCase: true }, 'LOWER', null],
    [
      { kind: 'pattern', pattern: 'routing', ignoreCase: true, matches: false },
      'The Routing number',
      'the answer matches "routing", which it must not',
    ],
    [{ kind: 'json' }, '{"a":', 'the answer is not JSON'],
    [{ kind: 'json' }, '{"a":1}', null],
    [
      { name: 'polite', check: (text) => text.includes('please') },
      'Do it.',
      'the answer is refused by the check "polite"',
    ],
    [
      { name: 'kind', check: (text, { agent: who }) => (text === 'x' ? undefined : `${who} is rude`) },
      'y',
      'the answer is refused by the check "kind": writer is rude',
    ],
  ] as [CheckInput, string, string | null][])('%j of %j', async (check, text, finding) => {
    expect(await findingOf(check, text)).toBe(finding);
  });

  it('is not kept busy by a hostile text or expression', async () => {
    const dots = `${'.'.repeat(200_000)}x`;
    expect(await findingOf({ kind: 'maxSentences', sentences: 1 }, dots)).toBeNull();
    expect(await findingOf({ kind: 'pattern', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toContain(
      'does not match',
    );
    const ahead: CheckInput = { kind: 'pattern', pattern: '(?=.*.*.*x)y', matches: false };
    expect(await findingOf(ahead, 'z'.repeat(50_000))).toContain('that would take too long');
  });

  it('gives the model one round to correct the answer, which is all that the conversation keeps', async () => {
    const { flow, models, requests } = checked({ checks: [words('lamp')], answers: ['A lamp.', 'A light.'] });
    const { outcome, state } = await flow.run({ task: 'x' }, { models });
    expect([outcome, state['write'], requests.length]).toEqual(['succeeded', 'A light.', 2]);
    expect(requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      text: 'That answer can not be used:\n- the answer contains the banned word "lamp"\n\nGive the whole answer again, corrected.',
    });
    expect(state.talk?.map(({ text }) => text)).toEqual(['x', 'A light.']);
  });

  it('then fails the step with the message of the check, and its findings', async () => {
    const checks = [{ ...words('lamp'), message: 'We do not talk of lamps.' }];
    const { flow, models } = checked({ checks, answers: ['A lamp.', 'The lamp.'] });
    const { outcome, error, state } = await flow.run({ task: 'x' }, { models });
    expect([outcome, error]).toMatchObject([
      'failed',
      {
        code: 'SKEIN_CHECK',
        message: 'We do not talk of lamps.',
        details: { findings: ['the answer contains the banned word "lamp"'], text: 'The lamp.' },
      },
    ]);
    expect(state).not.toHaveProperty('after');
  });

  it('shares its round with the schema of the answer', async () => {
    const output = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const both = checked({ checks: [words('lamp')], output, answers: ['a lamp', '{"a":"a light"}'] });
    expect((await both.flow.run({ task: 'x' }, { models: both.models })).state['write']).toEqual({ a: 'a light' });
    expect(JSON.stringify(both.requests[1]?.messages.at(-1))).toMatch(/not JSON.*banned word/);
    const still = checked({ checks: [words('lamp')], output, answers: ['a light', '{"a":"a lamp"}'] });
    const { error } = await still.flow.run({ task: 'x' }, { models: still.models });
    expect(error?.message).toBe('agent "writer": the answer contains the banned word "lamp"');
  });

  it('may only warn', async () => {
    const checks = [{ ...words('lamp'), onViolation: 'warn' as const }];
    const { flow, models, requests } = checked({ checks, answers: ['A lamp.'] });
    const { state, events } = await flow.run({ task: 'x' }, { models });
    expect([state['write'], requests.length]).toEqual(['A lamp.', 1]);
    expect(events.filter(({ type }) => type === 'warning').map(({ metadata }) => metadata)).toMatchObject([
      { code: 'check-violated', message: 'agent "writer": the answer contains the banned word "lamp"' },
    ]);
  });
});

describe('[A10] what a model says beside calls', () => {
  const beside = (text: string): Said => ({ text, calls: [['look', {}]] });

  it('is checked too, and none of the calls is made: the model is told once, and the conversation keeps neither', async () => {
    const answers = [beside('A lamp.'), beside('A light.'), 'Done.'];
    const { flow, models, requests } = checked({ checks: [words('lamp')], answers });
    const { outcome, state } = await flow.run({ task: 'x' }, { models });
    expect([outcome, made, requests.length]).toEqual(['succeeded', ['look'], 3]);
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain(
      'this call was not made, because the text that came with it',
    );
    expect(state.talk?.map(({ role, text = role }) => text)).toEqual(['x', 'A light.', 'tool', 'Done.']);
    const again = checked({ checks: [words('lamp')], answers: [beside('A lamp.'), beside('A lamp.')] });
    const { error } = await again.flow.run({ task: 'x' }, { models: again.models });
    expect([error?.code, made]).toEqual(['SKEIN_CHECK', []]);
  });

  it('need not have what only an answer has to have', async () => {
    const checks: CheckInput[] = [{ kind: 'json' }, { kind: 'minLength', characters: 7 }];
    const { flow, models } = checked({ checks, answers: [beside('Looking.'), beside(''), '{"a":1}'] });
    expect((await flow.run({ task: 'x' }, { models })).state['write']).toBe('{"a":1}');
  });
});

describe('[A10] what an agent is asked', () => {
  it('calls no model when it is refused', async () => {
    const checks = [{ ...words('lamp'), direction: 'input' as const, message: 'No lamps.' }];
    const { flow, models, requests } = checked({ checks, answers: ['A lamp.'] });
    const { error } = await flow.run({ task: 'My lamp?' }, { models });
    expect([error?.code, error?.message, requests.length]).toEqual(['SKEIN_CHECK', 'No lamps.', 0]);
    expect((await flow.run({ task: 'My light?' }, { models })).state['write']).toBe('A lamp.');
  });

  it('is what a person said last where the agent has no prompt of its own, and is checked in both directions', async () => {
    const { models, requests } = ownModels({ m: () => 'A lamp.' });
    const one = agent({ name: 'w', model: 'own/m', checks: [{ ...words('lamp'), direction: 'both' }] });
    const flow = graph<State>({ reducers: { talk: 'extend' } })
      .node('write', agentNode(one, { conversation: 'talk', taskParam: null }))
      .setEntry('write');
    const asked = (text: string) => flow.run({ talk: [{ role: 'user', text }] }, { models });
    expect([(await asked('My lamp?')).error?.code, requests.length]).toEqual(['SKEIN_CHECK', 0]);
    expect([(await asked('My light?')).error?.code, requests.length]).toEqual(['SKEIN_CHECK', 2]);
  });
});

describe('a recorded run with checks', () => {
  it('continues after any crash to the same end, and asks the checks again', async () => {
    const answers = ['A lamp.', 'A light.'];
    const given = { checks: [words('lamp')], answers };
    const store = memoryStore();
    const { flow, models } = checked(given);
    const { runId, state } = await flow.run({ task: 'x' }, { models, store });
    for (const { batches, lines } of prefixesOf(runId, store.read(runId))) {
      const paid = lines.filter((line) => line.includes('"t":"done"') && line.includes('"write@model#')).length;
      const again = checked(given);
      const left = storeWith(runId, batches, store);
      const result = await again.flow.run({}, { models: again.models, store: left, resume: runId });
      expect([result.outcome, result.state, again.requests.length]).toEqual(['succeeded', state, 2 - paid]);
    }
  });

  it('that failed by a check continues with the recorded answers when the check is another one', async () => {
    const store = memoryStore();
    const first = checked({ checks: [words('lamp', 'light')], answers: ['A lamp.', 'A light.'] });
    const { runId, outcome } = await first.flow.run({ task: 'x' }, { models: first.models, store });
    expect(outcome).toBe('failed');
    const second = checked({ checks: [words('lamp')], answers: [] });
    const result = await second.flow.run({}, { models: second.models, store, resume: runId });
    expect([result.outcome, result.state['write'], second.requests.length]).toEqual(['succeeded', 'A light.', 0]);
  });
});

describe('checks in a plan', () => {
  const problems = (checks: readonly unknown[], bindings?: object) => {
    const { plan } = definePlan({
      name: 'p',
      nodes: [
        { id: 'a', kind: 'agent', prompt: 'Hi.', output: 'x', agent: { checks: checks as readonly AnswerCheck[] } },
      ],
    });
    return checkPlan(plan, bindings as never).map(({ code, message, path }) => [code, message, path]);
  };

  it.each([
    [{ kind: 'bannedWords', words: [' '] }, 'the check bannedWords of "a" has no words'],
    [{ kind: 'requiredFields', fields: [] }, 'the check requiredFields of "a" has no fields'],
    [{ kind: 'maxLength' }, 'the check maxLength of "a" has no bound'],
    [{ kind: 'pattern', pattern: '(' }, 'the check pattern of "a" has a pattern that can\'t be used'],
  ])('%j says nothing', (check, message) => {
    expect(problems([check])).toEqual([['bad-check', expect.stringContaining(message), 'nodes[0].agent.checks[0]']]);
  });

  it.each([
    [{ kind: 'polite' }, 'nodes[0].agent.checks[0].kind'],
    [{ kind: 'maxLength', characters: 0 }, 'nodes[0].agent.checks[0].characters'],
    [{ kind: 'json', direction: 'sideways' }, 'nodes[0].agent.checks[0].direction'],
  ])('%j has no valid form', (check, path) => {
    expect(problems([check]).map((problem) => problem[2])).toEqual([path]);
  });

  it('that are functions need them', () => {
    const check = { kind: 'code', name: 'polite' };
    expect(problems([check], {})).toEqual([
      ['missing-binding', 'the check "polite" of "a" has no function', 'nodes[0]'],
    ]);
    expect(problems([check], { 'check:a/polite': () => true })).toEqual([]);
  });

  it('count one round of repair into the worst case, unless they only warn or look at what is asked', () => {
    const worst = (checks: readonly AnswerCheck[]) => {
      const { plan } = definePlan({
        name: 'p',
        nodes: [{ id: 'a', kind: 'agent', prompt: 'Hi.', output: 'x', agent: { tools: [], checks } }],
      });
      return estimateCalls(plan).modelCalls.worst;
    };
    const [none, some] = [worst([]), worst([words('lamp')])];
    expect(Number(some) - Number(none)).toBe(3);
    expect(worst([{ ...words('lamp'), onViolation: 'warn' }])).toBe(none);
    expect(worst([{ ...words('lamp'), direction: 'input' }])).toBe(none);
  });

  it('that are two functions of one name are refused', () => {
    const check = { name: 'polite', check: () => true };
    expect(() => agent({ name: 'a', checks: [check, check] })).toThrow('two checks are named "polite"');
  });
});
