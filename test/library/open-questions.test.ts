import { describe, expect, it } from 'vitest';
import { SkeinError, answerRun, definePlan, getThread, memoryStore, readRun, run, streamRun } from 'skein';
import type { OpenQuestion, RunOptions, Runnable, SkeinEvent } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';

const YES_NO = ['yes', 'no'];
const SUM = { type: 'object', properties: { sum: { type: 'number' } } } as const;

/** A question in an item of a map, in the second round of a loop, in a called workflow, and in functions. */
const NESTED = definePlan({
  name: 'nested',
  nodes: [
    { id: 'list', kind: 'task', output: 'list', run: () => ['a', 'b'] },
    {
      id: 'each',
      kind: 'map',
      over: { channel: 'list', path: [] },
      item: 'item',
      plan: definePlan({
        name: 'item',
        inputs: ['item'],
        nodes: [{ id: 'keep', kind: 'ask', question: 'Keep {{ item }}?', choices: YES_NO, output: 'kept' }],
      }),
      result: 'kept',
      maxItems: 5,
      output: 'kept',
    },
    {
      id: 'polish',
      kind: 'loop',
      maxRounds: 3,
      until: () => false,
      plan: definePlan({
        name: 'round',
        inputs: [{ name: 'draft', required: false }],
        nodes: [
          {
            id: 'judge',
            kind: 'task',
            run: async (_, step) => (step.path === 'polish#1/judge' ? {} : { good: await step.ask({ text: 'Good?' }) }),
          },
        ],
      }),
    },
    {
      id: 'inner',
      kind: 'call',
      plan: definePlan({
        name: 'inner',
        nodes: [
          {
            id: 'two',
            kind: 'task',
            run: async (_, step) => {
              const size = { text: 'Which size?', schema: { type: 'integer' } };
              await Promise.all([step.ask(size, 'size'), step.ask({ text: 'Which colour?' }, 'colour')]);
              return {};
            },
          },
        ],
      }),
    },
    { id: 'arrives', kind: 'wait', event: 'paid', ms: 60_000 },
    { id: 'gate', kind: 'ask', question: 'Go?', choices: YES_NO, expiresMs: 60_000 },
  ],
  edges: [['list', 'each']],
});

const shown = ({ key, path, name, question, choices }: OpenQuestion) => [key, path, name, question, choices];

const QUESTIONS = [
  ['each[0]/keep@answer', 'each[0]/keep', 'keep', 'Keep a?', YES_NO],
  ['each[1]/keep@answer', 'each[1]/keep', 'keep', 'Keep b?', YES_NO],
  ['polish#2/judge@ask:1', 'polish#2/judge', '1', 'Good?', undefined],
  ['inner/two@ask:size', 'inner/two', 'size', 'Which size?', undefined],
  ['inner/two@ask:colour', 'inner/two', 'colour', 'Which colour?', undefined],
  ['gate@answer', 'gate', 'gate', 'Go?', YES_NO],
];
const EVENT = ['arrives@event', 'arrives', 'paid', undefined, undefined];

async function eventsOf(workflow: Runnable, options: RunOptions) {
  const events: SkeinEvent[] = [];
  const stream = streamRun(workflow, options);
  for (;;) {
    const next = await stream.next();
    if (next.done === true) return { events, result: next.value };
    events.push(next.value);
  }
}

const sorted = (rows: readonly (readonly unknown[])[]) =>
  rows.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));

describe('[XG7] the result of a paused run', () => {
  it.each([['with a store'], ['without one']])(
    '%s says what is asked, at any depth, and events say it too',
    async (how) => {
      const store = memoryStore();
      const { events, result } = await eventsOf(NESTED, how === 'with a store' ? { store } : {});
      expect(result.outcome).toBe('paused');
      expect(sorted(result.questions.map(shown))).toEqual(sorted([...QUESTIONS, EVENT]));
      const told = events.flatMap((event) =>
        event.type === 'step.note' && event.note.kind === 'question' ? [{ event, note: event.note }] : [],
      );
      expect(sorted(told.map(({ note }) => shown(note)))).toEqual(sorted(QUESTIONS));
      expect(told.every(({ event, note }) => event.path === note.path)).toBe(true);
      expect(new Map(told.map(({ event }) => [event.path, event.parent]))).toEqual(
        new Map([
          ['each[0]/keep', 'each'],
          ['each[1]/keep', 'each'],
          ['polish#2/judge', 'polish'],
          ['inner/two', 'inner'],
          ['gate', ''],
        ]),
      );
      for (const { note } of told) {
        const { kind: _, ...asked } = note;
        expect(result.questions).toContainEqual(asked);
      }
      const [size] = result.questions.filter(({ name }) => name === 'size');
      expect(size?.schema).toEqual({ type: 'integer' });
      const [gate] = result.questions.filter(({ name }) => name === 'gate');
      expect((gate?.expires ?? 0) - (gate?.askedAt ?? 0)).toBe(60_000);
    },
  );

  it('has the form in which a store tells it, before and after a resume and in a fork', async () => {
    const store = memoryStore();
    const first = await run(NESTED, { store }).result;
    const read = () => readRun(store, first.runId).questions;
    expect(new Set(first.questions)).toEqual(new Set(read()));
    answerRun(store, first.runId, { key: 'each[0]/keep', value: 'yes' });
    answerRun(store, first.runId, { key: 'size', value: 4 });
    const { events, result } = await eventsOf(NESTED, { store, resume: first.runId });
    const left = QUESTIONS.filter(([key]) => key !== 'each[0]/keep@answer' && key !== 'inner/two@ask:size');
    expect(sorted(result.questions.map(shown))).toEqual(sorted([...left, EVENT]));
    expect(new Set(result.questions)).toEqual(new Set(read()));
    // Nothing of it was asked for the first time.
    const again = events.filter((event) => event.type === 'step.note' && event.note.kind === 'question');
    expect([again.length, again.filter(({ replayed }) => replayed !== true)]).toEqual([QUESTIONS.length, []]);
    const fork = await run(NESTED, { store, fork: { run: first.runId } }).result;
    expect(new Set(fork.questions)).toEqual(new Set(readRun(store, fork.runId).questions));
    expect(fork.questions.length).toBe(left.length + 1);
  });

  it('has none when it is not paused, nor those of an attempt that is over', async () => {
    const gone = definePlan({
      name: 'gone',
      nodes: [
        {
          id: 'a',
          kind: 'task',
          retry: { retries: 1, backoff: 'fixed', delayMs: 1 },
          run: async (_, step) => {
            if (step.attempt > 1) return { is: await step.ask({ text: 'Second?' }) };
            await step.ask({ text: 'First?' }).catch(() => undefined);
            throw new SkeinError('SKEIN_MODEL_UNAVAILABLE', 'once more', { retryable: true });
          },
        },
      ],
    });
    expect((await run(gone).result).questions.map(shown)).toEqual([['a~2@ask:1', 'a', '1', 'Second?', undefined]]);
    const answered = await run(gone, { answer: () => Promise.resolve('ok') }).result;
    expect([answered.outcome, answered.questions]).toEqual(['succeeded', []]);
  });

  it('has the approvals and the questions of agents, with the call as evidence', async () => {
    const pay = tool({ name: 'pay', inputSchema: SUM, approve: true, execute: () => 'paid' });
    const { models } = ownModels({ m: () => ({ calls: [['pay', { sum: 3 }]] }) });
    const flow = graph<{ task: string }>()
      .node('buy', agentNode(agent({ name: 'buyer', model: 'own/m', tools: [pay] })))
      .setEntry('buy');
    for (const store of [memoryStore(), undefined]) {
      const result = await flow.run({ task: 'x' }, { models, ...(store === undefined ? {} : { store }) });
      expect(result.outcome).toBe('paused');
      expect(result.questions).toMatchObject([
        {
          key: 'buy@ask:approve#1.1',
          path: 'buy',
          choices: ['allow', 'deny'],
          evidence: { tool: 'pay', input: { sum: 3 } },
        },
      ]);
      const events = result.events.filter(({ type }) => type === 'question');
      expect(events.map(({ node, metadata }) => [node, metadata])).toEqual([['buy', { ...result.questions[0] }]]);
    }
  });

  it('is told of a conversation, too', async () => {
    const store = memoryStore();
    const flow = graph<{ say: string }>()
      .node('sure', ({ say }, step) => step.ask({ text: `${say}?` }))
      .setEntry('sure');
    const { questions } = await flow.run({ say: 'go' }, { store, thread: 'one' });
    expect(questions.map(({ question }) => question)).toEqual(['go?']);
    expect(getThread(store, 'one').questions).toEqual(questions);
  });
});
