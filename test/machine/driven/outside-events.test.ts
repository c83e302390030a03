import { describe, expect, it } from 'vitest';
import { InvalidEventError, TerminalStateError, openPack } from 'skein/machine';
import { go, linesOf, packOf, talking } from '../support/talking.js';

const DESK = packOf(
  {
    intake: { on_event: { Escalate: 'desk', Close: 'done' } },
    desk: { orchestration: 'external', on_event: { Back: 'intake', Close: 'done' } },
    done: { terminal: true },
  },
  {},
  { done: 'You are done. [{{workflow_context}}]', desk: 'You are desk. [{{workflow_context}}]' },
);

const SAYS = { intake: ['Hello.'], desk: ['Desk.'], done: ['Bye.'] };

describe('an event from outside', () => {
  it('[33] [A6] works in every mode; without a message nobody speaks but a terminal state', async () => {
    const { conversation, speakers } = await talking(DESK, SAYS);
    const moved = await conversation.transition('Escalate');
    expect([moved.text, moved.state, moved.complete, speakers()]).toEqual(['', 'desk', false, []]);
    expect(conversation.availableEvents).toEqual(['Back', 'Close']);
    const closed = await conversation.transition('Close');
    expect([closed.text, closed.state, closed.complete, speakers()]).toEqual(['Bye.', 'done', true, ['done']]);
    expect(closed.events.map(({ type }) => type)).toEqual(['workflow.transitioned', 'workflow.completed']);
  });

  it('[A6] with a message lets the destination speak at once', async () => {
    const { conversation, requests } = await talking(DESK, SAYS);
    await conversation.send('Hi.');
    const { text, state } = await conversation.transition('Escalate', { message: 'A person, please.' });
    expect([text, state]).toEqual(['Desk.', 'desk']);
    expect(linesOf(requests[1] ?? { messages: [] })).toEqual([
      'system: You are desk. []',
      'user: Hi.',
      'assistant: Hello.',
      'user: A person, please.',
    ]);
  });

  it('[A6] keeps data as host_extras, which no model sees, and gives context to the prompt', async () => {
    const { conversation, requests } = await talking(DESK, SAYS);
    const data = { ticket: 4711, secret: 'kiwi' };
    const { events, transitions } = await conversation.transition('Close', { context: 'on the phone', data });
    expect(transitions).toEqual([{ from: 'intake', to: 'done', event: 'Close', host_extras: data }]);
    expect(events[0]).toMatchObject({ type: 'workflow.transitioned', host_extras: data });
    expect(linesOf(requests[0] ?? { messages: [] })).toEqual([
      'system: You are done. [on the phone]',
      'user: Continue.',
    ]);
    expect(JSON.stringify(requests)).not.toContain('kiwi');
  });

  it('[37] carries a summary of what was said forward, where that is asked for and no context is given', async () => {
    const long = 'x'.repeat(201);
    const { conversation, requests } = await talking(DESK, { ...SAYS, intake: [long] }, { carryForward: true });
    await conversation.send('Hi.');
    await conversation.transition('Escalate', { message: 'More.' });
    expect(linesOf(requests[1] ?? { messages: [] })[0]).toBe(
      `system: You are desk. [[Previous state: intake, 2 messages]\nuser: Hi.\nassistant: ${'x'.repeat(200)}...]`,
    );
    await conversation.transition('Back');
    await conversation.transition('Close', { context: 'mine' });
    expect(linesOf(requests[2] ?? { messages: [] })[0]).toBe('system: You are done. [mine]');
  });

  it('[5] [A2] that the state does not have is refused with those that it has, and changes nothing', async () => {
    const { conversation, speakers } = await talking(DESK, SAYS);
    await conversation.transition('Escalate');
    const refused = conversation.transition('Escalate', { message: 'Again.' });
    await expect(refused).rejects.toThrow(
      'invalid event for current state: event "Escalate" not defined for state "desk" (available: [Back Close])',
    );
    await expect(refused).rejects.toBeInstanceOf(InvalidEventError);
    expect([conversation.currentState, speakers(), conversation.messages]).toEqual(['desk', [], []]);
    await conversation.transition('Back');
    expect(conversation.currentState).toBe('intake');
  });

  it('[A6] [40] after the end everything is refused', async () => {
    const { conversation, speakers } = await talking(DESK, { ...SAYS, intake: [{ calls: [go('Close')] }] });
    const { complete } = await conversation.send('Hi.');
    expect(complete).toBe(true);
    const refused: unknown = await conversation.send('More.').then(undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(TerminalStateError);
    expect(refused).toMatchObject({
      code: 'SKEIN_TERMINAL_STATE',
      message: 'workflow is in terminal state',
      hint: 'begin another conversation',
      state: 'done',
    });
    await expect(conversation.transition('Close')).rejects.toThrow('workflow is in terminal state');
    expect(speakers()).toEqual(['intake', 'done']);
  });

  it('[A6] an external terminal state that was entered by a model has not spoken yet', async () => {
    const pack = packOf({
      intake: { on_event: { Close: 'done' } },
      done: { terminal: true, orchestration: 'external' },
    });
    const { conversation } = await talking(pack, { intake: [{ calls: [go('Close')] }], done: ['Bye.'] });
    const first = await conversation.send('Hi.');
    expect([first.text, first.state, first.complete, conversation.isComplete]).toEqual(['', 'done', false, false]);
    await expect(conversation.transition('Close')).rejects.toBeInstanceOf(TerminalStateError);
    const last = await conversation.send('And?');
    expect([last.text, last.complete]).toEqual(['Bye.', true]);
  });

  it('[33] [A2] a closed conversation takes no turn; closing it again does nothing', async () => {
    const { conversation } = await talking(DESK, SAYS);
    const turn = conversation.send('Hi.');
    await conversation.close();
    await conversation.close();
    expect((await turn).text).toBe('Hello.');
    await expect(conversation.send('More.')).rejects.toThrow('workflow conversation is closed');
    await expect(conversation.transition('Close')).rejects.toThrow('workflow conversation is closed');
    await expect(conversation.resume()).rejects.toThrow('workflow conversation is closed');
  });

  it.each([
    ['a number', 7],
    ['nothing', ''],
    ['a picture', { type: 'image', url: 'https://example.com/a.png' }],
  ])('[A10] %s is not a message', async (_, message) => {
    const { conversation, speakers } = await talking(DESK, SAYS);
    await expect(conversation.send(message as string)).rejects.toMatchObject({ code: 'SKEIN_INPUT' });
    await expect(conversation.transition('Close', { message: message as string })).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
    });
    expect([speakers(), conversation.currentState]).toEqual([[], 'intake']);
  });

  it('is refused with names of options that do not exist', async () => {
    await expect(openPack(DESK, { maxHandovers: 3 } as object)).rejects.toThrow(
      'openPack has no option "maxHandovers"',
    );
  });

  it.each([
    ['an event has no option "massage"', ['Close', { massage: 'x' }]],
    ['the extras of an event are an object, not a text', ['Close', 'x']],
    ['an event is named by a text, not undefined', []],
  ])('%s: it is refused, and the state stays', async (message, given) => {
    const { conversation } = await talking(DESK, SAYS);
    const transition = conversation.transition.bind(conversation) as (...given: readonly unknown[]) => Promise<unknown>;
    await expect(transition(...given)).rejects.toMatchObject({ code: 'SKEIN_USAGE', message });
    expect(conversation.currentState).toBe('intake');
  });
});

it('an empty message is refused with what may be done instead', async () => {
  const { conversation } = await talking(packOf({ a: { on_event: { Go: 'a' } } }), { a: ['Hello.'] });
  const refused = { code: 'SKEIN_INPUT', message: 'a message must be a text, not an empty text' };
  const hint = 'say something, or fire an event without a message';
  await expect(conversation.send(' ')).rejects.toMatchObject({ ...refused, hint });
  await expect(conversation.transition('Go', { message: '' })).rejects.toMatchObject({ ...refused, hint });
});
