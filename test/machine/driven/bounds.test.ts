import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { BudgetExhaustedError, MaxVisitsExceededError, openPack } from 'skein/machine';
import { go, linesOf, packOf, set, talking } from '../support/talking.js';

/** Two states that send each other the ball. */
function pingPong(more: Readonly<Record<string, unknown>> = {}, ping: object = {}, pong: object = {}) {
  return packOf(
    {
      ping: { on_event: { Go: 'pong' }, ...ping },
      pong: { on_event: { Go: 'ping', Stop: 'end' }, ...pong },
      end: { terminal: true },
    },
    more,
  );
}

const BALL = { ping: [{ calls: [go('Go')] }], pong: [{ calls: [go('Go')] }], end: ['Done.'] };

function withBudget(budget: object) {
  return { workflow: { engine: { budget } } };
}

describe('a turn without an end', () => {
  it('has 100 hand-overs where the pack has no bounds of its own, then it is out of budget', async () => {
    const { conversation, requests } = await talking(pingPong(), BALL);
    const { outcome, error, state, transitions, events } = await conversation.send('Serve.');
    expect([outcome, error?.code, error?.message, requests.length, transitions.length, state]).toEqual([
      'out_of_budget',
      'SKEIN_BUDGET',
      'a turn may have 100 hand-overs, and this one had one more',
      101,
      101,
      'pong',
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'workflow.budget_exhausted',
      limit: 'maxHandOvers',
      max: 100,
      transition_count: 101,
    });
  });

  it('has as many as the option says; the next turn continues from there', async () => {
    const { conversation, speakers } = await talking(pingPong(), BALL, { maxHandOvers: 2 });
    expect((await conversation.send('Serve.')).outcome).toBe('out_of_budget');
    expect([speakers().length, conversation.currentState]).toEqual([3, 'pong']);
    expect((await conversation.send('Again.')).outcome).toBe('out_of_budget');
    expect([speakers().length, conversation.currentState]).toEqual([6, 'ping']);
  });
});

describe('a budget', () => {
  it('[12] [41] of visits ends the turn as out_of_budget, its state kept; further turns are refused until it is raised', async () => {
    const { conversation, requests, options } = await talking(pingPong(withBudget({ max_total_visits: 3 })), BALL);
    const { outcome, error, state, events, complete } = await conversation.send('Serve.');
    expect([outcome, error?.message, state, complete]).toEqual([
      'out_of_budget',
      'workflow budget exhausted: max_total_visits 3 reached limit 3',
      'ping',
      false,
    ]);
    expect(events.at(-1)).toEqual({
      type: 'workflow.budget_exhausted',
      limit: 'max_total_visits',
      current: 3,
      max: 3,
      current_state: 'ping',
      transition_count: 2,
    });
    expect(requests).toHaveLength(2);
    for (const turn of [conversation.send('More.'), conversation.transition('Go')])
      await expect(turn).rejects.toBeInstanceOf(BudgetExhaustedError);
    expect([requests.length, conversation.messages.filter(({ role }) => role === 'user')]).toMatchObject([
      2,
      [{ text: 'Serve.' }],
    ]);
    void options;
  });

  it('[13] [16] of tool calls ends a state that never fires an event, before the next round', async () => {
    const pack = packOf(
      {
        work: { on_event: { Done: 'end' }, artifacts: { log: { type: 'text/plain', mode: 'append' } } },
        end: { terminal: true },
      },
      withBudget({ max_tool_calls: 3 }),
    );
    const { conversation, requests } = await talking(pack, { work: [{ calls: [set('log', 'a'), set('log', 'b')] }] });
    const { outcome, error } = await conversation.send('Go.');
    expect([outcome, error?.message, requests.length]).toEqual([
      'out_of_budget',
      'workflow budget exhausted: max_tool_calls 3 reached limit 3',
      2,
    ]);
    expect(conversation.context()).toMatchObject({ total_tool_calls: 3, artifacts: { log: 'aba' } });
  });

  it('[13] counts the calls of the machine too; the last one that fits may fire an event', async () => {
    const { conversation, speakers } = await talking(pingPong(withBudget({ max_tool_calls: 2 })), BALL);
    const { outcome, state } = await conversation.send('Serve.');
    expect([outcome, state, speakers()]).toEqual(['out_of_budget', 'ping', ['ping', 'pong']]);
  });

  it('keeps a terminal state from its last words: the conversation is not over, and they are said once the bound is raised', async () => {
    const store = memoryStore();
    const talk = (visits: number) =>
      talking(
        pingPong(withBudget({ max_total_visits: visits })),
        { ping: [{ calls: [go('Go')] }], pong: [{ calls: [go('Stop')] }], end: ['Done.'] },
        { store, thread: 't' },
      );
    const { conversation } = await talk(3);
    const { outcome, state, text, complete } = await conversation.send('Serve.');
    expect([outcome, state, text, complete, conversation.isComplete]).toEqual([
      'out_of_budget',
      'end',
      '',
      false,
      false,
    ]);
    await expect(conversation.send('And?')).rejects.toBeInstanceOf(BudgetExhaustedError);
    const { conversation: raised } = await talk(4);
    expect(await raised.send('And?')).toMatchObject({ text: 'Done.', complete: true });
  });

  it('of the engine that asks how much more it may spend is answered like any question of a turn', async () => {
    const store = memoryStore();
    const asks = { workflow: { engine: { skein: { budget: { calls: 1, on_limit: 'ask' } } } } };
    const talk = () =>
      talking(
        pingPong(asks),
        { ping: [{ calls: [go('Go')] }], pong: [{ calls: [go('Stop')] }], end: ['Done.'] },
        { store, thread: 't' },
      );
    const { pauses } = await (await talk()).conversation.send('Serve.');
    const { conversation } = await talk();
    const { outcome, text, complete } = await conversation.answer(pauses[0]?.key ?? '', '2-calls');
    expect([outcome, text, complete, conversation.isComplete]).toEqual(['succeeded', 'Done.', true, true]);
    expect(conversation.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
    await expect(conversation.answer('x', '1-calls')).rejects.toMatchObject({ code: 'SKEIN_ANSWER' });
  });

  it('keeps what a transient state has heard, and not answered, until the bound is raised', async () => {
    const store = memoryStore();
    const states = { check: { persistence: 'transient', on_event: { Ok: 'end' } }, end: { terminal: true } };
    const talk = (calls: number) =>
      talking(
        packOf(states, { ...withBudget({ max_tool_calls: calls }) }),
        { check: [{ calls: [go('Nope')] }, 'Yes?'] },
        { store, thread: 't' },
      );
    expect((await (await talk(1)).conversation.send('Hi.')).outcome).toBe('out_of_budget');
    const { conversation, requests } = await talk(9);
    await conversation.send('Well?');
    expect(linesOf(requests[0] ?? { messages: [] }).filter((line) => line.startsWith('user'))).toEqual([
      'user: Hi.',
      'user: Well?',
    ]);
  });

  it('[14] of wall time is checked before each model round', async () => {
    const { conversation } = await talking(pingPong(withBudget({ max_wall_time_sec: 1 })), {
      ...BALL,
      pong: [
        () => {
          const until = Date.now() + 1_100;
          while (Date.now() < until);
          return { calls: [go('Go')] };
        },
      ],
    });
    const { outcome, error } = await conversation.send('Serve.');
    expect([outcome, error?.message]).toEqual([
      'out_of_budget',
      expect.stringMatching(/^workflow budget exhausted: max_wall_time_sec \d+ reached limit 1$/),
    ]);
    expect(Number(conversation.context().metadata?.['skein.alive_ms'])).toBeGreaterThan(1_000);
  });
});

describe('a full state', () => {
  it('[9] [41] is redirected, and told so before the transition', async () => {
    const pack = pingPong({}, { max_visits: 1, on_max_visits: 'end' });
    const { conversation } = await talking(pack, BALL);
    const { state, events, text, transitions } = await conversation.send('Serve.');
    expect([state, text]).toEqual(['end', 'Done.']);
    expect(events.slice(1)).toEqual([
      {
        type: 'workflow.max_visits_exceeded',
        from_state: 'pong',
        original_target: 'ping',
        event: 'Go',
        visit_count: 1,
        max_visits: 1,
        redirected_to: 'end',
        terminated: false,
      },
      { type: 'workflow.transitioned', from_state: 'pong', to_state: 'end', event: 'Go', prompt_task: 'p2' },
      { type: 'workflow.completed', final_state: 'end', transition_count: 2 },
    ]);
    expect(transitions[1]).toMatchObject({
      redirected: true,
      original_target: 'ping',
      redirect_reason: 'max_visits (1) reached for "ping"',
    });
  });

  it('[30] target_state of the call includes redirects', async () => {
    const { conversation, requests } = await talking(pingPong({}, { max_visits: 1, on_max_visits: 'end' }), BALL);
    await conversation.send('Serve.');
    expect(linesOf(requests[2] ?? { messages: [] }).at(-1)).toContain('"target_state":"end"');
  });

  it('[D4] without a redirect the event is refused at the call, with those that still work', async () => {
    const pack = pingPong({}, { max_visits: 1 });
    const { conversation, requests } = await talking(pack, {
      ...BALL,
      pong: [{ calls: [go('Go')] }, { calls: [go('Stop')] }],
    });
    const { state, outcome } = await conversation.send('Serve.');
    expect([state, outcome]).toEqual(['end', 'succeeded']);
    const refused = linesOf(requests[2] ?? { messages: [] }).at(-1);
    expect(refused).toContain('max visits exceeded: state "ping" visited 1 times (max 1)');
    expect(refused).toContain('Stop');
  });

  it('[D4] [41] ends the turn as out_of_budget when no event works any more; then turns are refused until the bound is raised', async () => {
    const states = { ping: { on_event: { Go: 'pong' }, max_visits: 1 }, pong: { on_event: { Go: 'ping' } } };
    const { conversation, requests, options } = await talking(packOf(states), BALL);
    const { outcome, error, events } = await conversation.send('Serve.');
    expect([outcome, error?.message, requests.length]).toEqual([
      'out_of_budget',
      'max visits exceeded: state "ping" visited 1 times (max 1)',
      2,
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'workflow.max_visits_exceeded',
      event: 'Go',
      original_target: 'ping',
      terminated: true,
    });
    await expect(conversation.send('More.')).rejects.toBeInstanceOf(MaxVisitsExceededError);
    expect(requests).toHaveLength(2);
    void options;
  });

  it('[D5] redirects that form a loop of full states are an error at the call', async () => {
    const states = {
      hub: { on_event: { A: 'a' } },
      a: { on_event: { Back: 'hub' }, max_visits: 1, on_max_visits: 'b' },
      b: { on_event: { Back: 'hub' }, max_visits: 1, on_max_visits: 'c' },
      c: { on_event: { Back: 'hub' }, max_visits: 1, on_max_visits: 'a' },
    };
    const pack = packOf(states);
    await expect(openPack(pack)).rejects.toThrow('redirect');
  });
});
