import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import { graph, tool, toolNode } from 'skein/graph';

const SUM = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const;

function desk(approve: boolean | ((input: { readonly sum?: unknown }) => boolean)) {
  const paid: unknown[] = [];
  const refund = tool({
    name: 'refund',
    inputSchema: SUM,
    effect: 'idempotent',
    approve,
    execute: ({ sum }) => {
      paid.push(sum);
      return `refunded ${String(sum)}`;
    },
  });
  const flow = graph<{ sum: number | string }>().node('refund', toolNode(refund)).setEntry('refund');
  return { flow, paid };
}

describe('a tool that a person must allow, as a node', () => {
  it('asks before the call, with its input, and makes it once when it is allowed', async () => {
    const { flow, paid } = desk(true);
    const store = memoryStore();
    const first = await flow.run({ sum: '500' }, { store });
    expect([first.outcome, paid]).toEqual(['paused', []]);
    expect(first.questions).toMatchObject([
      { question: 'May refund be called with {"sum":500}?', choices: ['allow', 'deny'] },
    ]);
    answerRun(store, first.runId, { value: 'allow' });
    const second = await flow.run({}, { store, resume: first.runId });
    expect([second.answer, paid]).toEqual(['refunded 500', [500]]);
  });

  it('fails, and is not called, when it is refused', async () => {
    const { flow, paid } = desk(true);
    const { error } = await flow.run({ sum: 5 }, { answer: () => Promise.resolve('deny') });
    expect([error?.code, error?.message, paid]).toEqual([
      'SKEIN_TOOL_REFUSED',
      'a person refused this call of refund',
      [],
    ]);
  });

  it('asks about those inputs of which its function says so', async () => {
    const { flow, paid } = desk(({ sum }) => Number(sum) > 100);
    expect((await flow.run({ sum: 50 })).answer).toBe('refunded 50');
    expect([(await flow.run({ sum: 500 })).outcome, paid]).toEqual(['paused', [50]]);
  });
});

describe('a tool that may be called only once, as a node', () => {
  const once = (approve: boolean) => {
    const paid: unknown[] = [];
    const execute = ({ sum }: { readonly sum?: unknown }) => {
      paid.push(sum);
      throw new Error('no connection');
    };
    const refund = tool({ name: 'refund', inputSchema: SUM, approve, execute });
    const flow = graph<{ sum: number | string }>().node('refund', toolNode(refund), { retry: 3 }).setEntry('refund');
    return { flow, paid };
  };

  it('was not called if a person refused: a resume asks nothing, and a fork asks that person again', async () => {
    const { flow, paid } = once(true);
    const store = memoryStore();
    const { runId } = await flow.run({ sum: 5 }, { store });
    answerRun(store, runId, { value: 'deny' });
    for (const _ of [1, 2]) {
      const { outcome, error, questions } = await flow.run({}, { store, resume: runId });
      expect([outcome, error?.code, questions]).toEqual(['failed', 'SKEIN_TOOL_REFUSED', []]);
    }
    const { questions } = await flow.run({}, { store, fork: { run: runId, from: 'refund' } });
    expect([questions.map(({ question }) => question), paid]).toEqual([['May refund be called with {"sum":5}?'], []]);
  });

  it('was not called if its input is refused', async () => {
    const { flow, paid } = once(false);
    const store = memoryStore();
    const { runId } = await flow.run({ sum: 'much' }, { store });
    const { outcome, error, questions } = await flow.run({}, { store, resume: runId });
    expect([outcome, error?.code, questions, paid]).toEqual(['failed', 'SKEIN_INPUT', [], []]);
  });

  it('may have had its effect if it failed: a person says what happened', async () => {
    const { flow, paid } = once(false);
    const store = memoryStore();
    const { runId } = await flow.run({ sum: 5 }, { store });
    const made = paid.length;
    const { outcome, questions } = await flow.run({}, { store, resume: runId });
    expect([outcome, paid.length, questions.length]).toEqual(['paused', made, 1]);
    expect(questions[0]?.question).toContain('What happened?');
  });

  it('says nothing of a function around it, which may have done other things before', async () => {
    const { flow } = once(false);
    const around = graph<{ sum: number | string }>()
      .node('pay', ({ sum }, step) => flow.runOrThrow({ sum }, step.runOptions), { effect: 'once' })
      .setEntry('pay');
    const store = memoryStore();
    const { runId, error } = await around.run({ sum: 'much' }, { store });
    expect(error?.code).toBe('SKEIN_INPUT');
    const { questions } = await around.run({}, { store, resume: runId });
    expect(questions[0]?.question).toContain('What happened?');
  });
});
