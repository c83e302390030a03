import { describe, expect, it, vi } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import { go, packOf, talking } from '../support/talking.js';

const TOOLS = {
  place: {
    name: 'place',
    description: 'Places an order.',
    parameters: { type: 'object', properties: { amount: { type: 'number' } } },
  },
};

/** An order above an amount needs a person, then the machine goes on. */
const ORDERS = packOf(
  {
    order: { on_event: { Placed: 'done' }, artifacts: { order: { type: 'text/plain' } } },
    done: { terminal: true },
  },
  {
    tools: TOOLS,
    prompts: { p0: { tools: ['place'] } },
  },
  { done: 'You are done. [{{workflow_context}}]' },
);

const SCRIPT = {
  order: [{ calls: [['place', { amount: 500 }], go('Placed', 'placed')] }],
  done: ['Thank you.'],
} as const;

function orders(store = memoryStore(), thread = 'o1', budget = {}) {
  const placed: unknown[] = [];
  const place = ({ amount }: { amount: number }): string => {
    placed.push(amount);
    return 'ok';
  };
  return {
    placed,
    talk: () =>
      talking({ ...ORDERS, workflow: { ...ORDERS.workflow, engine: { budget } } }, SCRIPT, {
        store,
        thread,
        tools: { place },
        approve: { place: ({ amount }: { amount: number }) => amount > 100 },
      }),
  };
}

describe('a call that waits for a person', () => {
  it('[35] [A5] holds the transition back; with the answer the call is made, and the transition happens', async () => {
    const { placed, talk } = orders();
    const { conversation, speakers } = await talk();
    const waiting = await conversation.send('500, please.');
    expect([waiting.outcome, waiting.state, waiting.transitions, waiting.complete]).toEqual([
      'paused',
      'order',
      [],
      false,
    ]);
    expect([waiting.pauses.length, placed, conversation.currentState]).toEqual([1, [], 'order']);
    const [{ key, choices } = { key: '', choices: [] }] = waiting.pauses;
    expect(choices).toContain('allow');
    const { outcome, state, text, complete, transitions, messages } = await conversation.answer(key, 'allow');
    expect([outcome, state, text, complete, placed]).toEqual(['succeeded', 'done', 'Thank you.', true, [500]]);
    expect(transitions.map(({ to }) => to)).toEqual(['done']);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(speakers()).toEqual(['order', 'done']);
  });

  it('[35] [23] may be answered in another process, by the name of the conversation', async () => {
    const store = memoryStore();
    const first = orders(store);
    const { pauses } = await (await first.talk()).conversation.send('500, please.');
    const second = orders(store);
    const { conversation, speakers } = await second.talk();
    await expect(conversation.send('Hello?')).rejects.toMatchObject({ code: 'SKEIN_QUESTION' });
    const { state, complete } = await conversation.answer(pauses[0]?.key ?? '', 'allow');
    expect([state, complete, first.placed, second.placed, speakers()]).toEqual(['done', true, [], [500], ['done']]);
  });

  it('[14] [D6] takes no time of the budget, however long a person thinks', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { conversation } = await orders(memoryStore(), 'o2', { max_wall_time_sec: 60 }).talk();
      const { pauses } = await conversation.send('500, please.');
      vi.setSystemTime(Date.now() + 86_400_000);
      const { state, outcome, error } = await conversation.answer(pauses[0]?.key ?? '', 'allow');
      expect([outcome, error, state]).toEqual(['succeeded', undefined, 'done']);
      const { metadata, updated_at, history } = conversation.context();
      expect(Number(metadata?.['skein.alive_ms'] ?? 0)).toBeLessThan(60_000);
      expect([updated_at, history[0]?.timestamp]).toEqual(
        Array(2).fill(expect.stringContaining(new Date().toISOString().slice(0, 10))),
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps its variables for the next turn, also in a process that does not give them', async () => {
    const store = memoryStore();
    const more = {
      prompts: { p0: { tools: ['place'], variables: [{ name: 'shop', type: 'string', required: true }] } },
    };
    const pack = packOf(
      { order: { on_event: { Again: 'order' } } },
      { tools: TOOLS, ...more },
      { order: 'You are order. Of {{shop}}.' },
    );
    const options = { store, thread: 'o3', tools: { place: () => 'ok' }, approve: { place: true } };
    const script = { order: [{ calls: [['place', { amount: 1 }] as const] }, 'Placed.', 'Soon.'] };
    const first = await talking(pack, script, { ...options, variables: { shop: 'Loom' } });
    const { pauses, runId } = await first.conversation.send('One, please.');
    answerRun(store, runId, { key: pauses[0]?.key ?? '', value: 'allow' });
    const { conversation } = await talking(pack, { order: script.order.slice(1) }, options);
    expect((await conversation.send('When?')).text).toBe('Soon.');
  });

  it('[A5] that is refused makes no call; the transition of its round happens all the same', async () => {
    const { placed, talk } = orders();
    const { conversation } = await talk();
    const { pauses } = await conversation.send('500, please.');
    const { state } = await conversation.answer(pauses[0]?.key ?? '', 'deny');
    expect([state, placed]).toEqual(['done', []]);
  });

  it('[A3] answers of nothing are refused, and a turn that waits can be looked at again', async () => {
    const { talk } = orders();
    const { conversation } = await talk();
    await expect(conversation.answer('x', 'yes')).rejects.toMatchObject({ code: 'SKEIN_ANSWER' });
    await conversation.send('500, please.');
    await expect(conversation.answer('x', 'yes')).rejects.toMatchObject({ code: 'SKEIN_ANSWER' });
    const again = await conversation.resume();
    expect([again?.outcome, again?.pauses.length]).toEqual(['paused', 1]);
  });
});

describe('a conversation by its name', () => {
  it('[23] [A3] is continued where it stands; without a name the id of its first run is its name', async () => {
    const store = memoryStore();
    const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' } } });
    const first = await talking(pack, { a: [{ calls: [go('Go')] }], b: ['Here.'] }, { store });
    const { runId } = await first.conversation.send('Hi.');
    expect(first.conversation.id).toBe(runId);
    const second = await talking(pack, { b: ['Still here.'] }, { store });
    expect(await second.conversation.resume(runId)).toBeUndefined();
    expect([second.conversation.id, second.conversation.currentState, second.conversation.messages.length]).toEqual([
      runId,
      'b',
      4,
    ]);
    const { runId: next } = await second.conversation.send('And?');
    expect([next === runId, second.conversation.id, second.conversation.context().started_at]).toEqual([
      false,
      runId,
      first.conversation.context().started_at,
    ]);
    await expect(second.conversation.resume('nobody')).rejects.toMatchObject({ code: 'SKEIN_NO_THREAD' });
  });

  it('[A3] [18] may begin with a context of PromptKit; one of another pack is refused', async () => {
    const pack = packOf(
      { a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' }, artifacts: { n: { type: 'text/plain' } } } },
      {},
      { b: 'You are b. [{{artifacts.n}}]' },
    );
    const context = {
      current_state: 'b',
      history: [{ from: 'a', to: 'b', event: 'Go', timestamp: '2027-01-31T12:00:00Z' }],
      visit_counts: { a: 1, b: 1 },
      total_tool_calls: 4,
      artifacts: { n: 'note' },
      started_at: '2027-01-31T11:00:00Z',
      updated_at: '2027-01-31T12:00:00Z',
    };
    const { conversation, requests } = await talking(pack, { b: ['Here.'] }, { context });
    expect([conversation.currentState, conversation.availableEvents]).toEqual(['b', ['Go']]);
    await conversation.send('Hi.');
    expect(requests[0]?.messages[0]).toMatchObject({ text: 'You are b. [note]' });
    await conversation.transition('Go');
    expect(conversation.context()).toMatchObject({
      current_state: 'a',
      history: [...context.history, { from: 'b', to: 'a', event: 'Go' }],
      visit_counts: { a: 2, b: 1 },
      total_tool_calls: 4,
      artifacts: { n: 'note' },
      artifact_history: [{ from_state: 'b', values: { n: 'note' } }],
      started_at: context.started_at,
    });
    const other = { ...context, current_state: 'elsewhere' };
    await expect(talking(pack, {}, { context: other })).rejects.toMatchObject({ code: 'SKEIN_CONTEXT' });
  });

  it('[A3] two turns at once: the second waits, or is refused where that is asked for', async () => {
    const store = memoryStore();
    const pack = packOf({ a: { on_event: { Go: 'a' } } });
    const { conversation } = await talking(pack, { a: ['one', 'two'] }, { store, thread: 't' });
    const [one, two] = await Promise.all([conversation.send('1'), conversation.send('2')]);
    expect([one.text, two.text, conversation.messages.map(({ text }) => text)]).toEqual([
      'one',
      'two',
      ['1', 'one', '2', 'two'],
    ]);
    const thread = { id: 't', onBusy: 'refuse' } as const;
    const refusing = await talking(pack, { a: ['three', 'four'] }, { store, thread });
    const [three, four] = await Promise.allSettled([refusing.conversation.send('3'), refusing.conversation.send('4')]);
    expect([three.status, four]).toMatchObject(['fulfilled', { status: 'rejected', reason: { code: 'SKEIN_LEASE' } }]);
  });
});
