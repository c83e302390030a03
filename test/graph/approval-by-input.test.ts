import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';
import type { Said } from './support-agents.js';

const SUM = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const;

type Rule = (input: Readonly<Record<string, unknown>>) => boolean | Promise<boolean>;
const ABOVE_100: Rule = ({ sum }) => Number(sum) > 100;

/** A rule that notes what it is asked. */
const noting =
  (asked: unknown[]): Rule =>
  ({ sum }) => {
    asked.push(sum);
    return Number(sum) > 100;
  };

/** An agent that makes calls of `refund` in its first turn and repeats what came of them in its second. */
function desk(sums: readonly unknown[], approve: Rule | boolean, list: readonly string[] = []) {
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
  const calls = sums.map((sum) => ['refund', { sum }] as const);
  const { models, requests } = ownModels({
    m: (request): Said => (request.caller.turn === 1 ? { calls } : resultsIn(request).join(' | ')),
  });
  const flow = graph<{ task: string }>()
    .node('desk', agentNode(agent({ name: 'desk', model: 'own/m', tools: [refund], approve: list })))
    .setEntry('desk');
  return { flow, models, paid, requests };
}

describe('a tool that says which of its calls a person must allow', () => {
  it('asks about those, and makes the others at once', async () => {
    const { flow, models, paid } = desk([50, 500], ABOVE_100);
    const store = memoryStore();
    const first = await flow.run({ task: 'x' }, { models, store });
    expect([first.outcome, paid]).toEqual(['paused', [50]]);
    expect(first.questions).toMatchObject([
      { evidence: { tool: 'refund', input: { sum: 500 } }, choices: ['allow', 'deny'] },
    ]);
    answerRun(store, first.runId, { value: 'allow' });
    const second = await flow.run({}, { models, store, resume: first.runId });
    expect([second.answer, paid]).toEqual(['refunded 50 | refunded 500', [50, 500]]);
  });

  it('is given the input as the tool is: checked, with texts turned into numbers', async () => {
    const seen: unknown[] = [];
    const { flow, models, paid } = desk(['50', 'much', {}], ({ sum }) => {
      seen.push(sum);
      return false;
    });
    const { answer } = await flow.run({ task: 'x' }, { models });
    expect([seen, paid]).toEqual([[50], [50]]);
    expect(answer).toMatch(/^refunded 50 \| Error: .* \| Error: /);
  });

  it.each([undefined, null, 0, 'no', {}])('asks when the function gives %j: only a clear no is one', async (value) => {
    const { flow, models, paid } = desk([1], (() => value) as never);
    expect([(await flow.run({ task: 'x' }, { models })).outcome, paid]).toEqual(['paused', []]);
  });

  it('fails the step, and makes no call, when the function throws', async () => {
    const rule = (): boolean => {
      throw new Error('no limit is set');
    };
    const { flow, models, paid } = desk([1], rule);
    const { outcome, error } = await flow.run({ task: 'x' }, { models });
    expect([outcome, error?.message, paid]).toEqual(['failed', 'no limit is set', []]);
  });

  it('may answer later', async () => {
    const { flow, models, paid } = desk([1], () => Promise.resolve(false));
    expect([(await flow.run({ task: 'x' }, { models })).outcome, paid]).toEqual(['succeeded', [1]]);
  });

  it('does not take away what `approve` of the agent asks', async () => {
    const { flow, models, paid } = desk([1], () => false, ['refund']);
    expect([(await flow.run({ task: 'x' }, { models })).outcome, paid]).toEqual(['paused', []]);
  });
});

describe('what it said, in a recorded run', () => {
  it('holds after any crash: the function is not asked again', async () => {
    const store = memoryStore();
    const { flow, models } = desk([50, 500], noting([]));
    const { runId } = await flow.run({ task: 'x' }, { models, store });
    for (const { batches, lines } of prefixesOf(runId, store.read(runId))) {
      const decided = lines.filter((line) => line.includes('"t":"done"') && line.includes('@approve?#1.')).length;
      const asked: unknown[] = [];
      const again = desk([50, 500], noting(asked));
      const left: Store = storeWith(runId, batches, store);
      const result = await again.flow.run({}, { models: again.models, store: left, resume: runId });
      expect(result.questions).toMatchObject([{ evidence: { input: { sum: 500 } } }]);
      expect(asked).toHaveLength(2 - decided);
    }
  });

  it('counts anew when the function is another one', async () => {
    const store = memoryStore();
    const first = desk([50, 500], ABOVE_100);
    const { runId } = await first.flow.run({ task: 'x' }, { models: first.models, store });
    const stricter = desk([50, 500], ({ sum }) => Number(sum) > 10);
    const forked = await stricter.flow.run({}, { models: stricter.models, store, fork: { run: runId } });
    expect(forked.questions.map(({ evidence }) => evidence)).toMatchObject([
      { input: { sum: 50 } },
      { input: { sum: 500 } },
    ]);
  });
});

describe('a back end that runs tools inside of its model call', () => {
  it('asks in the same cases', async () => {
    const paid: unknown[] = [];
    const refund = tool({
      name: 'refund',
      inputSchema: SUM,
      effect: 'idempotent',
      approve: ABOVE_100,
      execute: ({ sum }) => {
        paid.push(sum);
        return 'done';
      },
    });
    const own = (name: string) => ({
      id: `own/${name}`,
      async *stream(request: { dispatch(call: object): Promise<{ output: string }> }) {
        const said: string[] = [];
        for (const sum of [50, 500])
          said.push((await request.dispatch({ id: `c${sum}`, name: 'refund', input: JSON.stringify({ sum }) })).output);
        yield { type: 'text', text: said.join(' | ') };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    });
    const flow = graph<{ task: string }>()
      .node('desk', agentNode(agent({ name: 'desk', model: 'own/m', tools: [refund] })))
      .setEntry('desk');
    const models = { env: {}, noProbe: true, providers: { own: own as never } };
    const store = memoryStore();
    const first = await flow.run({ task: 'x' }, { models, store });
    expect([first.outcome, paid]).toEqual(['paused', [50]]);
    expect(first.questions).toMatchObject([{ evidence: { input: { sum: 500 } } }]);
  });
});
