import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStore, run } from 'skein';
import { graph } from 'skein/graph';
import { isApproval } from '../../src/agent/loop/approval.js';
import { createAsker } from '../../src/cli/run/questions.js';
import type { View } from '../../src/cli/view/view.js';
import type { Question } from '../../src/index.js';
import { Given, typedAnswer } from '../../src/running.js';

/** A terminal on which lines are typed, and what is shown on it. */
function terminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const shown: string[] = [];
  const before = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    shown.push(String(text));
    // The person answers when asked.
    if (String(text).endsWith('> ')) setImmediate(() => input.write('allow\n'));
    return true;
  });
  onTestFinished(() => {
    spy.mockRestore();
    if (before !== undefined) Object.defineProperty(process, 'stdin', before);
    if (isTTY === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
    else Object.defineProperty(process.stderr, 'isTTY', isTTY);
  });
  return { shown, prompts: () => shown.filter((text) => text.endsWith('> ')).length };
}

const view = { suspend: () => undefined, resume: () => undefined } as unknown as View;
const askerOf = () =>
  createAsker({ view, readLine: typedAnswer, isRecorded: () => true, yes: false, isApproval, given: Given });

const question = (text: string): Question => ({ text, choices: ['allow', 'deny'], evidence: { value: text } });
const signal = new AbortController().signal;

describe('questions of the guard that wait together in a live run', () => {
  it('are shown one below the other, and one answer is for all', async () => {
    const { shown, prompts } = terminal();
    const ask = askerOf();
    const all = ['a', 'b', 'c'].map((id) => ({ question: question(`call ${id}`), address: `${id}@ask:guard#1.1` }));
    const [first, ...others] = all;
    if (first === undefined) return expect.unreachable();
    const said = await ask(first.question, first.address, signal, () => others);
    expect(said).toMatchObject({ value: 'allow' });
    for (const one of others)
      expect(await ask(one.question, one.address, signal, () => [])).toMatchObject({ value: 'allow' });
    expect(prompts()).toBe(1);
    for (const id of ['a', 'b', 'c']) expect(shown.join('')).toContain(`call ${id}`);
    expect(shown.join('')).toContain('one answer for all 3 questions');
  });

  it('are those of the guard alone, and another question that takes the place of one is asked by itself', async () => {
    const { prompts } = terminal();
    const ask = askerOf();
    const other = { question: question('Go on?'), address: 'q@answer' };
    const guarded = { question: question('call b'), address: 'b@ask:guard#1.1' };
    await ask(question('call a'), 'a@ask:guard#1.1', signal, () => [other, guarded]);
    expect(prompts()).toBe(1);
    await ask(other.question, other.address, signal, () => []);
    expect(prompts()).toBe(2);
    await ask(question('call b with other arguments'), guarded.address, signal, () => []);
    expect(prompts()).toBe(3);
  });

  it.each([
    ['without a store', () => ({})],
    ['with a store', () => ({ store: memoryStore() })],
  ])('are known to whom the first of them is put: %s', async (_, options) => {
    const flow = graph<{ text: string }>()
      .node('a', ({ text }) => text, { endorse: 'person' })
      .node('b', ({ text }) => text, { endorse: 'person' })
      .node('c', ({ text }) => text, { endorse: 'person' })
      .compile();
    const seen: (readonly string[])[] = [];
    const result = await run(flow, {
      ...options(),
      inputs: { text: 'x' },
      untrusted: ['text'],
      answer: async (_question, _address, _signal, waiting) => {
        await new Promise((done) => setImmediate(done));
        seen.push(waiting().map(({ address }) => address));
        return 'allow';
      },
    }).result;
    expect(result.outcome).toBe('succeeded');
    expect(seen).toEqual([['b@endorse:guard#1', 'c@endorse:guard#1'], ['c@endorse:guard#1'], []]);
  });
});
