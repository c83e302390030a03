import { describe, expect, it } from 'vitest';
import type { TurnEvent } from 'skein/machine';
import { go, linesOf, packOf, set, talking } from '../support/talking.js';

const SUPPORT = packOf({
  intake: {
    description: 'Finds out what it is about.',
    on_event: { Escalate: 'specialist', Outside: 'desk', Resolve: 'done' },
    artifacts: { note: { type: 'text/plain' } },
  },
  specialist: { on_event: { Resolve: 'done', Back: 'intake' } },
  desk: { orchestration: 'external', on_event: { Closed: 'done' } },
  done: { terminal: true },
});

describe('a turn', () => {
  it('[34] [A4] hands over inside: the destination speaks next, without a new message', async () => {
    const { conversation, requests } = await talking(SUPPORT, {
      intake: [{ text: 'One moment.', calls: [set('note', 'late'), go('Escalate', 'order 7')] }],
      specialist: ['I look at it.'],
    });
    const { text, state, complete, outcome } = await conversation.send('My order is late.');
    expect([text, state, complete, outcome]).toEqual(['I look at it.', 'specialist', false, 'succeeded']);
    expect(requests.map(linesOf)).toEqual([
      ['system: You are intake.', 'user: My order is late.'],
      [
        'system: You are specialist.',
        'user: My order is late.',
        'assistant: One moment. ->workflow__set_artifact ->workflow__transition',
        'tool: {"status":"artifact_set","artifact":"note"} | {"status":"transition_scheduled","event":"Escalate","target_state":"specialist"}',
      ],
    ]);
  });

  it('[29] gives each state its own tools: a terminal one can fire no event', async () => {
    const { conversation, requests } = await talking(SUPPORT, {
      intake: [{ calls: [go('Escalate')] }],
      specialist: [{ calls: [go('Resolve')] }],
      done: ['Bye.'],
    });
    const { complete, state, text } = await conversation.send('Help.');
    expect([complete, state, text, conversation.isComplete]).toEqual([true, 'done', 'Bye.', true]);
    const tools = requests.map((request) => request.tools.map(({ name }) => name));
    expect(tools).toEqual([
      ['workflow__transition', 'workflow__set_artifact'],
      ['workflow__transition', 'workflow__set_artifact'],
      ['workflow__set_artifact'],
    ]);
    const events = (at: number) => JSON.stringify(requests[at]?.tools[0]?.inputSchema);
    expect([events(0), events(1)]).toEqual([
      expect.stringContaining('["Escalate","Outside","Resolve"]'),
      expect.stringContaining('["Back","Resolve"]'),
    ]);
  });

  it('[A4] ends with a round without calls; the next message goes to the state that was reached', async () => {
    const { conversation, speakers } = await talking(SUPPORT, {
      intake: ['What is it?', { calls: [go('Escalate')] }],
      specialist: ['Which order?', 'It is on its way.'],
    });
    expect((await conversation.send('Help.')).text).toBe('What is it?');
    expect((await conversation.send('My order is late.')).text).toBe('Which order?');
    expect((await conversation.send('Seven.')).text).toBe('It is on its way.');
    expect(speakers()).toEqual(['intake', 'intake', 'specialist', 'specialist']);
  });

  it('[34] ends in front of an external state, which answers the next message; its events come from outside alone', async () => {
    const { conversation, requests, speakers } = await talking(SUPPORT, {
      intake: [{ text: 'Somebody will call you.', calls: [go('Outside')] }],
      desk: ['We are on it.'],
      done: ['Bye.'],
    });
    const first = await conversation.send('Help.');
    expect([first.text, first.state, conversation.orchestration]).toEqual([
      'Somebody will call you.',
      'desk',
      'external',
    ]);
    expect((await conversation.send('Hello?')).text).toBe('We are on it.');
    expect(requests[1]?.tools.map(({ name }) => name)).toEqual(['workflow__set_artifact']);
    const last = await conversation.transition('Closed', { message: 'Thanks.' });
    expect([last.text, last.complete, speakers()]).toEqual(['Bye.', true, ['intake', 'desk', 'done']]);
  });

  it('[A4] whose last round had a hand-over and no text has the empty text', async () => {
    const { conversation } = await talking(SUPPORT, { intake: [{ calls: [go('Outside')] }] });
    const { text, outcome, state } = await conversation.send('Help.');
    expect([text, outcome, state]).toEqual(['', 'succeeded', 'desk']);
  });

  it('[30] [D4] refuses an event that is not there at the call, with those that are; the model corrects itself', async () => {
    const { conversation, requests } = await talking(SUPPORT, {
      intake: [{ calls: [go('Sumbit')] }, { calls: [go('Escalate')] }],
      specialist: ['Yes?'],
    });
    const { state, transitions } = await conversation.send('Help.');
    expect([state, transitions]).toEqual(['specialist', [{ from: 'intake', to: 'specialist', event: 'Escalate' }]]);
    expect(linesOf(requests[1] ?? { messages: [] }).at(-1)).toMatch(/^tool: Error: .*Escalate.*Outside.*Resolve/s);
  });

  it('[30] [D4] refuses a second transition in a round, and carries out the first', async () => {
    const { conversation, requests } = await talking(SUPPORT, {
      intake: [{ calls: [go('Escalate'), go('Resolve')] }],
      specialist: ['Yes?'],
    });
    const { state } = await conversation.send('Help.');
    expect(state).toBe('specialist');
    expect(linesOf(requests[1] ?? { messages: [] }).at(-1)).toContain(
      'a transition is scheduled in this round already',
    );
  });

  it('[A5] [26] commits when all calls of the round are settled: an artifact that is set behind the event is in the snapshot', async () => {
    const { conversation } = await talking(SUPPORT, {
      intake: [{ calls: [go('Escalate'), set('note', 'late')] }],
      specialist: ['Yes?'],
    });
    await conversation.send('Help.');
    expect(conversation.context()).toMatchObject({
      current_state: 'specialist',
      visit_counts: { intake: 1, specialist: 1 },
      total_tool_calls: 2,
      artifacts: { note: 'late' },
      artifact_history: [{ from_state: 'intake', to_state: 'specialist', event: 'Escalate', values: { note: 'late' } }],
      history: [{ from: 'intake', to: 'specialist', event: 'Escalate' }],
    });
  });

  it('[32] [41] tells what happens in order, with the state of each message, and keeps what the model added to the call', async () => {
    const { conversation } = await talking(SUPPORT, {
      intake: [{ text: 'One moment.', calls: [go('Escalate', '', { ticket: 7 })] }],
      specialist: [{ calls: [go('Resolve')] }],
      done: ['Bye.'],
    });
    const heard: TurnEvent[] = [];
    conversation.on((event) => heard.push(event));
    const turn = conversation.send('Help.');
    const read: TurnEvent[] = [];
    for await (const event of turn) read.push(event);
    const { events, messages, transitions } = await turn;
    expect(read.filter(({ type }) => type !== 'text')).toEqual(heard.filter(({ type }) => type !== 'text'));
    expect(read.flatMap((event) => (event.type === 'text' ? [`${event.state}: ${event.text}`] : []))).toEqual([
      'intake: One moment.',
      'done: Bye.',
    ]);
    expect(events).toEqual([
      {
        type: 'workflow.transitioned',
        from_state: 'intake',
        to_state: 'specialist',
        event: 'Escalate',
        prompt_task: 'p1',
        host_extras: { ticket: 7 },
      },
      {
        type: 'workflow.transitioned',
        from_state: 'specialist',
        to_state: 'done',
        event: 'Resolve',
        prompt_task: 'p3',
      },
      { type: 'workflow.completed', final_state: 'done', transition_count: 2 },
    ]);
    expect(transitions[0]).toEqual({ from: 'intake', to: 'specialist', event: 'Escalate', host_extras: { ticket: 7 } });
    expect(
      messages.map(({ role, text, by, current_workflow_state: { current_state, terminal } }) => [
        role,
        text,
        by,
        current_state,
        terminal,
      ]),
    ).toEqual([
      ['user', 'Help.', undefined, 'intake', false],
      ['assistant', 'One moment.', 'p0', 'intake', false],
      ['tool', undefined, undefined, 'intake', false],
      ['assistant', '', 'p1', 'specialist', false],
      ['tool', undefined, undefined, 'specialist', false],
      ['assistant', 'Bye.', 'p3', 'done', true],
    ]);
    expect(messages[0]?.current_workflow_state.description).toBe('Finds out what it is about.');
    expect(conversation.messages).toEqual(messages);
    const at = read.findIndex(({ type }) => type === 'workflow.completed');
    expect(read.slice(at + 1).map(({ type }) => type)).toEqual(['text', 'message']);
  });

  it('[37] gives the next state what the call said as workflow_context, and artifacts, each inserted as data', async () => {
    const pack = packOf(
      SUPPORT.workflow.states as never,
      {},
      {
        specialist: 'You are specialist. [{{workflow_context}}] [{{artifacts.note}}]',
        intake: 'You are intake. [{{artifacts.note}}]',
      },
    );
    const { conversation, requests } = await talking(pack, {
      intake: [{ calls: [set('note', '{{secret}} {{workflow_context}}'), go('Escalate', '{{secret}}')] }],
      specialist: ['Yes?'],
    });
    await conversation.send('Help.');
    expect(requests.map((request) => linesOf(request)[0])).toEqual([
      'system: You are intake. []',
      'system: You are specialist. [{{secret}}] [{{secret}} {{workflow_context}}]',
    ]);
  });

  it('[37] shows the context of the newest hand-over alone: none replaces one, and the same one may come again', async () => {
    const circle = { a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' } } };
    const texts = { a: 'You are a. [{{workflow_context}}]', b: 'You are b. [{{workflow_context}}]' };
    const { conversation, requests } = await talking(packOf(circle, {}, texts), {
      a: [{ calls: [go('Go', 'one')] }, { calls: [go('Go', 'two')] }, 'Done.'],
      b: [{ calls: [go('Go')] }, { calls: [go('Go', 'two')] }],
    });
    await conversation.send('Begin.');
    expect(requests.map((request) => linesOf(request)[0])).toEqual([
      'system: You are a. []',
      'system: You are b. [one]',
      'system: You are a. []',
      'system: You are b. [two]',
      'system: You are a. [two]',
    ]);
  });
});
