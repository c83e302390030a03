import { expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { keptChannels, readHead } from '../../../src/journal/thread-journal.js';
import { packOf, talking } from '../support/talking.js';

const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
const pack = packOf({ a: { on_event: { Go: 'b' } }, b: {} }, { tools: { look }, prompts: { p0: { tools: ['look'] } } });

test('what a tool showed in one turn of a conversation influenced what is said in the next ones', async () => {
  const store = memoryStore();
  const levelOf = (): string | undefined => {
    const head = readHead(store, 'one');
    return head && keptChannels(store, 'one', head.state).get('conversation')?.label?.level;
  };
  const open = { store, thread: 'one', tools: { look: () => 'a page' } };
  const before = await talking(pack, { a: ['Hello.'] }, open);
  await before.conversation.send('Hi');
  expect(levelOf()).toBeUndefined();
  const looking = await talking(pack, { a: [{ calls: [['look', {}]] }, 'Seen.'] }, open);
  expect((await looking.conversation.send('Look')).outcome).toBe('succeeded');
  expect(levelOf()).toBe('untrusted');
  const after = await talking(pack, { a: ['Still here.'] }, open);
  expect((await after.conversation.send('And now?')).outcome).toBe('succeeded');
  expect(levelOf()).toBe('untrusted');
});
