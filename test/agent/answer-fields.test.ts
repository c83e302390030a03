import { describe, expect, it } from 'vitest';
import { checkPlan, definePlan, estimateCalls, memoryStore, run } from 'skein';
import type { SkeinEvent } from 'skein';
import type { AgentNode } from '../../src/plan/plan.js';
import { ownModels } from '../graph/support-agents.js';
import type { Said } from '../graph/support-agents.js';

type Fields = Partial<Pick<AgentNode, 'fields' | 'fieldsStrict' | 'fieldsUnless' | 'output'>> & {
  readonly agent?: object;
};

/** An agent whose answer fills the channels `title` and `tags`. */
function flowOf({ agent, ...more }: Fields = {}): ReturnType<typeof definePlan> {
  return definePlan({
    name: 'fields',
    inputs: [{ name: 'before', required: false }],
    nodes: [
      {
        id: 'write',
        kind: 'agent',
        agent: { models: ['own/m'], tools: [], ...agent },
        prompt: 'Write.',
        output: 'answer',
        fields: { title: 'title', tags: 'tags' },
        ...more,
      },
    ],
  } as never);
}

/** Runs it with these answers. */
async function answered(answers: readonly Said[], fields: Fields = {}, inputs: Record<string, unknown> = {}) {
  const { models, requests } = ownModels({ m: ({ caller }) => answers[caller.turn - 1] ?? 'too many turns' });
  const warnings: string[] = [];
  const listen = (event: SkeinEvent): void => {
    if (event.type === 'step.note' && event.note.kind === 'warning')
      warnings.push(`${event.note.code}: ${event.note.message}`);
  };
  const { outcome, state, error } = await run(flowOf(fields), { models, inputs, listeners: [listen] }).result;
  const repair = requests[1]?.messages.at(-1);
  const asked = repair?.role === 'user' ? repair.text : undefined;
  return { outcome, state, error, warnings, calls: requests.length, asked };
}

const GOOD = 'Here: {"title": "Rain", "tags": ["a", {"b": 1}], "more": true} as asked.';

describe('[A23] fields of an answer', () => {
  it('[addition 5] fill channels of their own with the values of the JSON in it, and the output is the text', async () => {
    const { outcome, state, calls } = await answered([GOOD]);
    expect([outcome, calls]).toEqual(['succeeded', 1]);
    expect(state).toEqual({ answer: GOOD, title: 'Rain', tags: ['a', { b: 1 }] });
  });

  it('are found in a code fence among other braces', async () => {
    const { state } = await answered(['use {x}:\n```json\n{"title":"T","tags":null}\n```\nand {y}']);
    expect([state['title'], state['tags']]).toEqual(['T', null]);
  });

  it('come from the structured output, where there is one', async () => {
    const schema = { type: 'object', required: ['title', 'tags'] };
    const { state, calls } = await answered(['{"title":1,"tags":2}'], { agent: { output: { schema } } });
    expect([state, calls]).toEqual([{ answer: { title: 1, tags: 2 }, title: 1, tags: 2 }, 1]);
  });

  it('[decision 5] one with the name of the output wins over the text', async () => {
    const { state } = await answered([GOOD], { output: 'title' });
    expect(state).toEqual({ title: 'Rain', tags: ['a', { b: 1 }] });
  });

  it('of an earlier answer stay where a reducer collects them', async () => {
    const [write] = flowOf().plan.nodes;
    const twice = definePlan({
      name: 'twice',
      channels: { tags: 'append' },
      nodes: [write, { ...write, id: 'again' }],
      edges: [['write', 'again']],
    } as never);
    const { models } = ownModels({ m: ({ caller }) => (caller.path === 'write' ? GOOD : 'no JSON') });
    const { state } = await run(twice, { models }).result;
    expect(state).toEqual({ answer: 'no JSON', tags: [['a', { b: 1 }]] });
  });

  it('are written although the node says which channels it writes', async () => {
    const { outcome, state } = await answered([GOOD], { writes: ['answer'] } as Fields);
    expect([outcome, state['title']]).toEqual(['succeeded', 'Rain']);
  });
});

describe('[decision 5] an answer without its fields', () => {
  it('is asked for once more, with what is missing', async () => {
    const { state, calls, asked, warnings } = await answered(['{"title": "Rain"}', GOOD]);
    expect([calls, state['title'], warnings]).toEqual([2, 'Rain', []]);
    expect(asked).toContain('- the JSON object lacks "tags"');
    expect(asked).toContain('with one JSON object in it that has the fields "title", "tags".');
  });

  it.each([
    ['prose', 'no braces', 'the answer holds no JSON object'],
    ['a list', '[{"title":1}]', 'the JSON object lacks "tags"'],
    ['broken JSON', '{"title": "Rain", "tags": [}', 'the answer holds no JSON object'],
    ['names that every object has', '{"toString":1}', 'the JSON object lacks "title"; the JSON object lacks "tags"'],
  ])('[bad input] gives its text and a warning when it comes again: %s', async (_, text, why) => {
    const { outcome, state, calls, warnings } = await answered([text, text]);
    expect([outcome, calls, state]).toEqual(['succeeded', 2, { answer: text }]);
    expect(warnings).toEqual([
      `output.unparsed: the answer of agent "write" does not have its fields: ${why}; its text is used as it is`,
    ]);
  });

  it('keeps its text in the channel that a field shares with the output', async () => {
    const { state } = await answered(['prose', 'more prose'], { output: 'title' });
    expect(state).toEqual({ title: 'more prose' });
  });

  it('[decision 5] fails the step when it is strict', async () => {
    const { outcome, error, state } = await answered(['prose', 'prose'], { fieldsStrict: true });
    expect([outcome, error?.code, state]).toEqual(['failed', 'SKEIN_OUTPUT_INVALID', {}]);
    expect(error?.message).toBe(
      'the answer of agent "write" does not have its fields: the answer holds no JSON object',
    );
    expect(error?.details).toMatchObject({ answer: 'prose' });
  });
});

describe('[addition 9] an answer that has nothing to add', () => {
  const fieldsUnless = { line: 'CONVERGED', after: { channel: 'before' } };

  it('is not asked for fields when there is something before', async () => {
    const { calls, state, warnings } = await answered(['fine\n CONVERGED '], { fieldsUnless }, { before: ['x'] });
    expect([calls, warnings, state['answer'], state['title']]).toEqual([1, [], 'fine\n CONVERGED ', undefined]);
  });

  it.each([
    ['nothing is there', 'fine\nCONVERGED', {}],
    ['the list is empty', 'fine\nCONVERGED', { before: [] }],
    ['the word stands in a sentence', 'we have CONVERGED', { before: ['x'] }],
  ])('is asked for them when %s', async (_, text, inputs) => {
    const { calls, state } = await answered([text, GOOD], { fieldsUnless }, inputs);
    expect([calls, state['title']]).toEqual([2, 'Rain']);
  });
});

describe('fields in a plan', () => {
  it('are channels that others may read, and cost a round of repair', () => {
    const { plan } = flowOf();
    const reader = { id: 'next', kind: 'ask', question: [{ channel: 'title' }], output: 'go' } as const;
    const whole = { ...plan, nodes: [...plan.nodes, reader], edges: [{ from: 'write', to: 'next' }] };
    expect(checkPlan(whole)).toEqual([]);
    expect(estimateCalls(plan).modelCalls.worst).toBe(6);
    const odd = { ...plan, nodes: [{ ...plan.nodes[0], fields: ['title'] }] } as never;
    expect(checkPlan(odd).map(({ path }) => path)).toEqual(['nodes[0].fields']);
  });

  it('are the same on a resume, for which no model is asked', async () => {
    const store = memoryStore();
    const { models, requests } = ownModels({ m: ({ caller }) => ['{}', GOOD][caller.turn - 1] ?? 'too many' });
    const first = await run(flowOf(), { models, store }).result;
    const again = await run(flowOf(), { models, store, resume: first.runId }).result;
    expect([again.state, requests.length]).toEqual([first.state, 2]);
    expect(again.state['tags']).toEqual(['a', { b: 1 }]);
  });
});
