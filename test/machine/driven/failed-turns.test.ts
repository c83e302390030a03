import { expect, it } from 'vitest';
import { getThread, memoryStore } from 'skein';
import { tool } from 'skein/graph';
import { InvalidEventError } from 'skein/machine';
import type { Said } from '../../graph/support-agents.js';
import { rejected } from '../../thrown.js';
import { packOf, talking, type Script } from '../support/talking.js';

/** A pack that pays before it says so. */
const SHOP = packOf(
  { order: { on_event: { Close: 'done' } }, done: { terminal: true } },
  {
    tools: { pay: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } } },
    prompts: { p0: { tools: ['pay'] } },
  },
);

/** Conversations of one store with a model that is down as long as `isDown`, after it has paid. */
function shop(thread: { id: string; onFailed?: 'retry' } = { id: 't', onFailed: 'retry' }) {
  const world = { isDown: true, paid: 0, heard: [] as string[] };
  const pay = tool({
    name: 'pay',
    inputSchema: { type: 'object' },
    effect: 'once',
    execute: () => `paid ${(world.paid += 1)}`,
  });
  const says = ({ messages }: { messages: readonly { role: string; text?: string }[] }): Said => {
    const last = messages.at(-1);
    if (last?.role === 'user' && last.text === 'Buy it.') return { calls: [['pay', {}]] };
    if (world.isDown) throw new Error('the model is down');
    world.heard.push(last?.text ?? '');
    return last?.role === 'user' ? `Heard: ${last.text ?? ''}` : 'Bought.';
  };
  const script: Script = { order: [says], done: ['Bye.'] };
  const store = memoryStore();
  const talk = async () => (await talking(SHOP, script, { store, thread, tools: { pay } })).conversation;
  return { world, store, talk };
}

it('[P1] [A3] resume tries a failed turn again, without paying again; then there is nothing to resume', async () => {
  const { world, talk } = shop();
  const conversation = await talk();
  expect((await conversation.send('Buy it.')).outcome).toBe('failed');
  expect((await (await talk()).resume())?.outcome).toBe('failed');
  world.isDown = false;
  const turn = await (await talk()).resume();
  expect([turn?.outcome, turn?.text, turn?.state, world.paid]).toEqual(['succeeded', 'Bought.', 'order', 1]);
  expect(await conversation.resume()).toBeUndefined();
  expect(conversation.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

it('the next message tries the failed turn first, and is refused as long as that fails', async () => {
  const { world, store, talk } = shop();
  const conversation = await talk();
  await conversation.send('Buy it.');
  const refused = await rejected(() => conversation.send('And then?'));
  expect([refused.code, refused.message]).toEqual(['SKEIN_THREAD', expect.stringContaining('was tried again')]);
  world.isDown = false;
  expect((await conversation.send('And then?')).text).toBe('Heard: And then?');
  expect([world.paid, getThread(store, 't').turns.map(({ counts }) => counts)]).toEqual([1, [true, true]]);
  expect(conversation.messages.map(({ text }) => text).filter((text) => text !== undefined && text !== '')).toEqual([
    'Buy it.',
    'Bought.',
    'And then?',
    'Heard: And then?',
  ]);
});

it('by default a failed turn does not count: resume has nothing to complete, and the next message begins without it', async () => {
  const { world, talk } = shop({ id: 't' });
  const conversation = await talk();
  await conversation.send('Buy it.');
  expect(await conversation.resume()).toBeUndefined();
  world.isDown = false;
  expect((await conversation.send('And then?')).text).toBe('Heard: And then?');
  expect([world.paid, conversation.messages.length]).toEqual([1, 2]);
});

it('a turn that the machine refused is not tried again: the conversation continues', async () => {
  const { world, talk } = shop();
  world.isDown = false;
  const conversation = await talk();
  await expect(conversation.transition('Close it')).rejects.toBeInstanceOf(InvalidEventError);
  expect(await conversation.resume()).toBeUndefined();
  expect((await conversation.send('Well?')).text).toBe('Heard: Well?');
  expect((await conversation.transition('Close')).complete).toBe(true);
});

it('a conversation takes the options of a thread, and refuses others', async () => {
  const wrong = { id: 't', onFailed: 'again' } as unknown as { id: string };
  const unknown = { id: 't', busy: 'refuse' } as { id: string };
  for (const [thread, message] of [
    [wrong, 'onFailed is "again"'],
    [unknown, 'a thread has no option "busy"'],
  ] as const)
    expect(await rejected(() => talking(SHOP, {}, { thread, tools: { pay: () => '' } }))).toMatchObject({
      code: 'SKEIN_USAGE',
      message,
    });
});
