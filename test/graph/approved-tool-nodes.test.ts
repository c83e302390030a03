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
