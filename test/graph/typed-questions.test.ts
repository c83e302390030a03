import { describe, expect, expectTypeOf, it } from 'vitest';
import { answerRun, deliverEvent, memoryStore, readRun } from 'skein';
import { agent, agentNode, eventNode, graph, tool } from 'skein/graph';
import { z } from 'zod';
import { ownModels, resultsIn } from './support-agents.js';

const Review = z.object({ approved: z.boolean(), reason: z.string().optional() });
type Review = z.input<typeof Review>;

const said = (review: Review): string => `${review.approved ? 'yes' : 'no'}, ${review.reason ?? 'no reason'}`;

describe('a question with a schema of zod', () => {
  it('of a function is kept as JSON Schema, checks the answer, and gives its type', async () => {
    const flow = graph<{ draft: string }>()
      .node('review', ({ draft }, step) => step.ask({ text: `Print ${draft}?`, schema: Review }))
      .node('end', ({ review }) => said(review));
    const store = memoryStore();
    const { runId, questions } = await flow.run({ draft: 'it' }, { store });
    expect(questions).toMatchObject([{ key: 'review@ask:1', schema: { type: 'object', required: ['approved'] } }]);
    expect(() => answerRun(store, runId, { value: { approved: 'no' } })).toThrow(/must be boolean|approved/);
    answerRun(store, runId, { value: { approved: true } });
    const ended = await flow.run({}, { store, resume: runId });
    expectTypeOf(ended.state.review).toEqualTypeOf<Review | undefined>();
    expect(ended.state.end).toBe('yes, no reason');
  });

  it('shows a person its evidence, and has the type of its schema all the same', async () => {
    const flow = graph<{ draft: string }>()
      .node('review', ({ draft }, step) => step.ask({ text: 'Print?', schema: Review, evidence: { draft } }))
      .node('end', ({ review }) => said(review));
    const store = memoryStore();
    const { runId, questions } = await flow.run({ draft: 'it' }, { store });
    expect([questions[0]?.evidence, readRun(store, runId).questions]).toEqual([{ draft: 'it' }, questions]);
    answerRun(store, runId, { value: { approved: true } });
    expect((await flow.run({}, { store, resume: runId })).answer).toBe('yes, no reason');
    const shown: unknown[] = [];
    const answer = async ({ evidence }: { evidence?: unknown }) => (shown.push(evidence), { approved: false });
    expect((await flow.run({ draft: 'it' }, { answer })).answer).toBe('no, no reason');
    expect(shown).toEqual([{ draft: 'it' }]);
  });

  it('takes a default of this type', async () => {
    const flow = graph().node(
      'end',
      async (_state, step) => {
        const late = { expires: new Date(0), default: { approved: false, reason: 'late' } };
        return said(await step.ask({ text: 'Print?', schema: Review }, late));
      },
      { inputs: [] },
    );
    expect((await flow.run({}, { store: memoryStore() })).answer).toBe('no, late');
  });

  it('of a tool lets a person change what an agent wants to do', async () => {
    const { models } = ownModels({
      m: (request) => (request.caller.turn === 1 ? { calls: [['look', { city: 'Rome' }]] } : resultsIn(request).join()),
    });
    const look = tool({
      name: 'look',
      inputSchema: z.object({ city: z.string() }),
      async execute({ city }, io) {
        const change = await io.ask({ text: `Look at ${city}?`, schema: z.object({ city: z.string().optional() }) });
        return `seen ${change.city ?? city}`;
      },
    });
    const flow = graph<{ task: string }>().node(
      'desk',
      agentNode(agent({ name: 'desk', model: 'own/m', tools: [look] })),
    );
    const store = memoryStore();
    const { runId } = await flow.run({ task: 'Look.' }, { store, models });
    answerRun(store, runId, { value: { city: 'Oslo' } });
    expect((await flow.run({}, { store, models, resume: runId })).answer).toBe('seen Oslo');
  });
});

describe('an event with a schema of zod', () => {
  it('has the type of the schema, or of its default', async () => {
    const schema = z.object({ amount: z.number() });
    const flow = graph()
      .node('paid', eventNode('payment', { schema }))
      .node('early', eventNode('discount', { schema, expires: 1, default: null }))
      .node('sum', ({ paid, early }) => paid.amount - (early === null ? 0 : early.amount));
    const store = memoryStore();
    const { runId } = await flow.run({}, { store });
    expect(() => deliverEvent(store, runId, 'payment', { amount: 'all' })).toThrow(/amount/);
    deliverEvent(store, runId, 'payment', { amount: 40 });
    expect((await flow.run({}, { store, resume: runId })).state.sum).toBe(40);
  });
});
