import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { agent, tool } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';

/** An agent calls a tool with this body; `told` is what the model gets. */
async function called(execute: () => unknown) {
  const { models, requests } = ownModels({
    m: ({ caller }) => (caller.turn === 1 ? { calls: [['lookup', {}]] } : 'done'),
  });
  const lookup = tool({ name: 'lookup', inputSchema: { type: 'object' }, effect: 'read', execute });
  const { outcome, steps } = await agent({ name: 'a', model: 'own/m', tools: [lookup] }).run('go', {
    models,
    store: memoryStore(),
  });
  const last = requests.at(-1)?.messages.at(-1);
  const told = last?.role === 'tool' ? last.results[0] : undefined;
  const warnings = steps.filter(({ type }) => type === 'warning').map(({ metadata }) => metadata['message']);
  return { outcome, output: told?.output, isError: told?.isError, warnings };
}

class Account {
  constructor(readonly balance: number) {}
  readonly isOpen = (): boolean => this.balance > 0;
}

describe('the result of a function that an agent calls', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  it.each([
    ['a map', () => new Map([['a', 1]]), 'it is an instance of Map'],
    ['a set inside of an object', () => ({ found: [new Set([1])] }), 'the value at .found[0] is an instance of Set'],
    ['an error as a value', () => Object.assign(new TypeError('x'), { code: 5 }), 'it is an instance of TypeError'],
    [
      'a response that was not read',
      () => ({ page: new Response('x') }),
      'the value at .page is an instance of Response',
    ],
    [
      'a promise that was not awaited',
      () => ({ page: Promise.resolve(1) }),
      'the value at .page is an instance of Promise',
    ],
    ['a generator', () => (function* () {})(), 'it is an object of a class without a name'],
    ['a bigint', () => ({ n: 5n }), 'the value at .n is a bigint'],
    ['a function', () => () => 1, 'it is a function'],
  ])('is not lost without a word: %s', async (_, body, why) => {
    expect(await called(body)).toEqual({
      outcome: 'succeeded',
      output: `Error: the call was made, but its result can't be shown: ${why}, which is not JSON`,
      isError: true,
      warnings: [
        `the model does not get the result of "lookup": ${why}, which is not JSON; return text, or plain JSON data`,
      ],
    });
  });

  it('may not contain itself', async () => {
    const { output, warnings } = await called(() => circle);
    expect([output, warnings]).toEqual([expect.stringContaining('or contains itself'), [expect.any(String)]]);
  });

  it.each([
    ['a text', () => 'hello', 'hello'],
    ['nothing', () => undefined, ''],
    ['null', () => null, 'null'],
    [
      'a date and an address',
      () => ({ at: new Date(0), to: new URL('http://a.example/') }),
      '{"at":"1970-01-01T00:00:00.000Z","to":"http://a.example/"}',
    ],
    ['an instance with fields, and functions in it', () => [new Account(5), undefined], '[{"balance":5},null]'],
    ['an empty object without a class', (): unknown => Object.create(null), '{}'],
  ])('is text or JSON: %s', async (_, body, output) => {
    expect(await called(body)).toEqual({ outcome: 'succeeded', output, isError: false, warnings: [] });
  });
});

describe('what a function throws that an agent calls', () => {
  it.each([
    ['that it stopped by itself', new DOMException('too slow for me', 'AbortError'), 'Error: too slow for me'],
    ['an object with a message', { message: 'no such order', status: 404 }, 'Error: no such order'],
    ['an object that has no text', Object.create(null), 'Error: thrown: something that is not text'],
    ['nothing', undefined, 'Error: thrown: undefined'],
  ])('goes to the model, which goes on: %s', async (_, thrown, output) => {
    const body = (): Promise<never> => Promise.reject(thrown as Error);
    expect(await called(body)).toEqual({ outcome: 'succeeded', output, isError: true, warnings: [] });
  });
});
