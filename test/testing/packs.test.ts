import { describe, expect, it } from 'vitest';
import { assertComplete, assertSpeakers, assertTransitions } from 'skein/testing';
import { go, packOf, talking } from '../machine/support/talking.js';

const PACK = packOf({
  intake: { on_event: { Escalate: 'desk' } },
  desk: { on_event: { Close: 'done' } },
  done: { terminal: true },
});

const talk = () =>
  talking(PACK, {
    intake: [{ text: 'One moment.', calls: [go('Escalate')] }],
    desk: ['Which order?', { calls: [go('Close')] }],
    done: ['Bye.'],
  });

describe('assertions for packs', () => {
  it('say the order of transitions, who spoke in which state, and that it is complete', async () => {
    const { conversation } = await talk();
    const first = await conversation.send('Help.');
    assertTransitions(first, ['intake -Escalate-> desk']);
    assertSpeakers(first, ['intake', 'desk']);
    const turns = [first, await conversation.send('Seven.')];
    assertTransitions(turns, ['intake -Escalate-> desk', 'desk -Close-> done']);
    assertSpeakers(turns, ['intake', 'desk', 'done']);
    assertComplete(turns);
    assertComplete(turns, 'done');
  });

  it('fail with what happened instead', async () => {
    const { conversation } = await talk();
    const turn = await conversation.send('Help.');
    expect(() => assertTransitions(turn, ['intake -Close-> done'])).toThrow(/intake -Escalate-> desk/);
    expect(() => assertSpeakers(turn, ['desk'])).toThrow(/intake/);
    expect(() => assertComplete(turn)).toThrow(
      'the conversation is not complete: it stands in "desk", its last turn succeeded',
    );
    expect(() => assertComplete([])).toThrow('there was no turn');
    const last = await conversation.send('Seven.');
    expect(() => assertComplete(last, 'desk')).toThrow('it ended in "done", not in "desk"');
  });
});
