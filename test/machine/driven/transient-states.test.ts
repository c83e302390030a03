import { describe, expect, it } from 'vitest';
import { go, linesOf, packOf, talking } from '../support/talking.js';

const PACK = packOf({
  intake: { on_event: { Verify: 'verify', Close: 'done' } },
  verify: { persistence: 'transient', on_event: { Ok: 'desk', Again: 'verify', Other: 'check' } },
  check: { persistence: 'transient', on_event: { Ok: 'desk' } },
  desk: { on_event: { Close: 'done' } },
  done: { terminal: true },
});

const sent = (requests: readonly { readonly messages: never }[] | readonly object[], at: number): string[] =>
  linesOf(requests[at] as Parameters<typeof linesOf>[0]).slice(1);

describe('a transient state', () => {
  it('[22] [D10] starts with the message of this turn alone; what is said there is dropped when it is left', async () => {
    const { conversation, requests } = await talking(PACK, {
      intake: ['Hello.', { text: 'I check that.', calls: [go('Verify', 'who is it')] }],
      verify: ['Your number?', { text: 'Thanks.', calls: [go('Ok')] }],
      desk: ['All is well.', 'Bye.'],
    });
    await conversation.send('Hi.');
    expect((await conversation.send('Pay me.')).text).toBe('Your number?');
    expect(sent(requests, 2)).toEqual(['user: Pay me.']);
    expect(conversation.messages.map(({ text }) => text)).toEqual([
      'Hi.',
      'Hello.',
      'Pay me.',
      'I check that.',
      undefined,
      'Pay me.',
      'Your number?',
    ]);

    expect((await conversation.send('My number is 4711.')).text).toBe('All is well.');
    expect(sent(requests, 3)).toEqual(['user: Pay me.', 'assistant: Your number?', 'user: My number is 4711.']);
    const desk = ['user: Hi.', 'assistant: Hello.', 'user: Pay me.', 'assistant: I check that. ->workflow__transition'];
    expect(sent(requests, 4)).toEqual([...desk, expect.stringContaining('tool: '), 'user: My number is 4711.']);
    await conversation.send('More.');
    expect(JSON.stringify(requests[5])).not.toContain('Your number?');
    expect(conversation.messages.map(({ text }) => text)).not.toContain('Your number?');
  });

  it('[D10] that is left in the turn in which it was entered leaves nothing; the destination sees what was there before', async () => {
    const { conversation, requests } = await talking(PACK, {
      intake: [{ calls: [go('Verify')] }],
      verify: [{ calls: [go('Ok')] }],
      desk: ['All is well.'],
    });
    const { messages } = await conversation.send('Pay me.');
    expect(sent(requests, 2)).toEqual([
      'user: Pay me.',
      'assistant:  ->workflow__transition',
      expect.stringContaining('"target_state":"verify"'),
    ]);
    expect(messages.map(({ current_workflow_state: { current_state } }) => current_state)).toEqual(
      'intake intake intake verify verify verify desk'.split(' '),
    );
  });

  it('leaves the message of its turn to the next state after all that it said itself', async () => {
    const { conversation } = await talking(PACK, {
      intake: [{ calls: [go('Verify')] }],
      verify: ['Your number?', { text: 'Thanks.', calls: [go('Ok')] }],
      desk: ['All is well.'],
    });
    await conversation.send('Pay me.');
    const { messages } = await conversation.send('4711.');
    expect(messages.map(({ role, text, current_workflow_state: at }) => [at.current_state, role, text])).toEqual([
      ['verify', 'user', '4711.'],
      ['verify', 'assistant', 'Thanks.'],
      ['verify', 'tool', undefined],
      ['desk', 'user', '4711.'],
      ['desk', 'assistant', 'All is well.'],
    ]);
  });

  it('[D10] begins anew when it is entered again, from itself or from another one', async () => {
    const { conversation, requests } = await talking(PACK, {
      intake: [{ calls: [go('Verify')] }],
      verify: ['Your number?', { calls: [go('Again')] }, { calls: [go('Other')] }],
      check: ['Your name?'],
    });
    await conversation.send('Pay me.');
    expect((await conversation.send('No.')).text).toBe('Your name?');
    expect(requests.slice(2).map((_, at) => sent(requests, at + 2))).toEqual([
      ['user: Pay me.', 'assistant: Your number?', 'user: No.'],
      ['user: No.'],
      ['user: No.'],
    ]);
    expect(conversation.currentState).toBe('check');
  });

  it('[D10] that a conversation begins in, or that an event leads to, begins the same way', async () => {
    const { conversation, requests } = await talking(
      PACK,
      { verify: ['Your number?'], desk: ['Well.'], done: ['Bye.'] },
      { state: 'verify' },
    );
    await conversation.send('Hi.');
    await conversation.transition('Again', { message: 'Again, please.' });
    expect(requests.map((_, at) => sent(requests, at))).toEqual([['user: Hi.'], ['user: Again, please.']]);
    await conversation.transition('Ok');
    expect(conversation.messages).toEqual([]);
    await conversation.transition('Close');
    expect(sent(requests, 2)).toEqual(['user: Continue.']);
  });

  it('[22] [D10] context({ stored: true }) gives the context of the last persistent state', async () => {
    const { conversation } = await talking(PACK, {
      intake: [{ calls: [go('Verify')] }],
      verify: ['Your number?', { calls: [go('Other')] }, { calls: [go('Ok')] }],
      check: ['Your name?', { calls: [go('Ok')] }],
      desk: ['Well.'],
    });
    await conversation.send('Pay me.');
    const stored = conversation.context({ stored: true });
    expect([stored.current_state, stored.history, stored.visit_counts]).toEqual(['intake', [], { intake: 1 }]);
    expect(conversation.context()).toMatchObject({ current_state: 'verify', visit_counts: { intake: 1, verify: 1 } });
    await conversation.send('No.');
    expect(conversation.context({ stored: true })).toEqual(stored);
    await conversation.send('Ada.');
    expect(conversation.context({ stored: true })).toEqual(conversation.context());
  });
});
