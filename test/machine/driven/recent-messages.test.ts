import { describe, expect, it, vi } from 'vitest';
import { memoryStore } from 'skein';
import { linesOf, packOf, talking } from '../support/talking.js';

const PACK = packOf({ a: { on_event: { Go: 'a' } } });

describe('the option recent', () => {
  it('sends the last messages, from one of a user on, however long the conversation', async () => {
    const { conversation, requests } = await talking(PACK, { a: ['yes'] }, { recent: 3 });
    for (let at = 1; at <= 60; at++) await conversation.send(`${at}`);
    expect(requests.slice(58).map((request) => linesOf(request).slice(1))).toEqual([
      ['user: 58', 'assistant: yes', 'user: 59'],
      ['user: 59', 'assistant: yes', 'user: 60'],
    ]);
    expect(conversation.messages).toHaveLength(120);
    const wide = await talking(PACK, { a: ['yes'] }, { recent: 500 });
    for (let at = 1; at <= 20; at++) await wide.conversation.send(`${at}`);
    expect(wide.requests.at(-1)?.messages).toHaveLength(40);
  });

  it('reads no more of a long conversation than of a short one', async () => {
    const whole = memoryStore();
    const { conversation } = await talking(PACK, { a: ['yes'] }, { store: whole, thread: 't', recent: 4 });
    const read = vi.spyOn(whole, 'read');
    const costs: number[] = [];
    for (let at = 1; at <= 120; at++) {
      read.mockClear();
      const one = await talking(PACK, { a: ['yes'] }, { store: whole, thread: 't', recent: 4 });
      await one.conversation.send(`${at}`);
      costs.push(read.mock.results.reduce((sum, { value }) => sum + (value as unknown[]).length, 0));
    }
    expect(conversation.messages).toHaveLength(240);
    expect(costs[119]).toBe(costs[59]);
  });
});
