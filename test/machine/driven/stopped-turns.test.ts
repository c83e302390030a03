import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { openPack, type OpenPackOptions } from 'skein/machine';
import { tool } from 'skein/graph';
import type { ModelRequest } from '../../../src/agent/model.js';
import { rejected } from '../../thrown.js';
import { packOf } from '../support/talking.js';

const DESK = packOf(
  { intake: { on_event: { Close: 'done' } }, done: { terminal: true } },
  {
    tools: { pay: { name: 'pay', description: 'Pays.', parameters: { type: 'object', properties: {} } } },
    prompts: { p0: { tools: ['pay'] } },
  },
);
const usage = { inputTokens: 1, outputTokens: 1 };
const pay = tool({ name: 'pay', inputSchema: { type: 'object' }, execute: () => 'paid' });

/** A conversation whose model thinks about `wait` until it is stopped, pays for `pay`, and repeats everything else. */
async function desk(options: OpenPackOptions = {}) {
  const world = { asked: 0, stopped: 0, waiting: () => undefined as void };
  const begun = new Promise<void>((resolve) => (world.waiting = resolve));
  const model = {
    id: 'own/m',
    async *stream({ messages, signal }: ModelRequest) {
      world.asked += 1;
      const last = messages.at(-1);
      const text = last?.role === 'user' ? last.text : 'Done.';
      if (text === 'wait') {
        yield { type: 'text', text: 'Well, ' } as const;
        world.waiting();
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }
      if (text === 'pay') yield { type: 'tool-call', call: { id: 'c', name: 'pay', input: '{}' } } as const;
      else yield { type: 'text', text } as const;
      yield { type: 'finish', reason: text === 'pay' ? 'tool-calls' : 'stop', usage } as const;
    },
  };
  const models = { env: {}, providers: { own: () => model }, override: 'own/m' };
  const conversation = await openPack(DESK, { models, tools: { pay }, approve: { pay: true }, ...options });
  return { world, conversation, begun };
}

it('[P1] the signal of a message stops its turn alone: the conversation stays where it was, and continues', async () => {
  const { conversation, begun, world } = await desk();
  expect((await conversation.send('hello')).text).toBe('hello');
  const stop = new AbortController();
  const turn = conversation.send('wait', { signal: stop.signal });
  await begun;
  stop.abort(new Error('the page was closed'));
  const { outcome, error } = await turn;
  expect([outcome, error?.message]).toEqual(['cancelled', 'the page was closed']);
  expect(conversation.messages.map((message) => (message.role === 'tool' ? '' : message.text))).toEqual([
    'hello',
    'hello',
  ]);
  expect([(await conversation.send('again')).text, world.asked]).toEqual(['again', 3]);
});

it('the signal of the conversation also stops a turn that has one of its own', async () => {
  const all = new AbortController();
  const { conversation, begun } = await desk({ signal: all.signal });
  const turn = conversation.send('wait', { signal: new AbortController().signal });
  await begun;
  all.abort();
  expect((await turn).outcome).toBe('cancelled');
});

it('a turn that is stopped while it waits for the one before it does not begin', async () => {
  const { conversation, begun, world } = await desk();
  const [first, second] = [new AbortController(), new AbortController()];
  const slow = conversation.send('wait', { signal: first.signal });
  await begun;
  const waiting = rejected(() => conversation.send('and', { signal: second.signal }));
  second.abort();
  expect((await waiting).code).toBe('SKEIN_CANCELLED');
  first.abort();
  expect([(await slow).outcome, world.asked]).toEqual(['cancelled', 1]);
});

it('an event, an answer and a resume take a signal too', async () => {
  const stopped = { signal: AbortSignal.abort() };
  const store = memoryStore();
  const { conversation } = await desk({ store, thread: 't' });
  expect((await rejected(() => conversation.transition('Close', { message: 'hi', ...stopped }))).code).toBe(
    'SKEIN_CANCELLED',
  );
  const [question] = (await conversation.send('pay')).pauses;
  expect(question?.path).toBe('state.intake');
  const left = await rejected(() => conversation.answer(question?.key ?? '', 'allow', stopped));
  expect(left.code).toBe('SKEIN_CANCELLED');
  expect((await rejected(() => conversation.resume('t', stopped))).code).toBe('SKEIN_CANCELLED');
  expect((await conversation.resume())?.text).toBe('Done.');
});

it('options of a turn that would be lost are refused', async () => {
  const { conversation, world } = await desk();
  const wrong = async (options: unknown): Promise<unknown[]> => {
    const { code, message } = await rejected(() => conversation.send('hello', options as object));
    return [code, message];
  };
  expect(await wrong({ signals: 1 })).toEqual(['SKEIN_USAGE', expect.stringContaining('"signals"')]);
  expect(await wrong({ signal: 1 })).toEqual(['SKEIN_USAGE', 'the option "signal" must be an AbortSignal']);
  expect(await wrong(null)).toEqual(['SKEIN_USAGE', 'the options of a turn are an object, not null']);
  const { code } = await rejected(() => conversation.transition('Close', { signal: {} as AbortSignal }));
  expect([code, world.asked]).toEqual(['SKEIN_USAGE', 0]);
});
