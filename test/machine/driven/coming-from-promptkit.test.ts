import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { openPack } from 'skein/machine';
import type { OpenPackOptions, PackConversation } from 'skein/machine';
import { codeWords, tableBelow } from '../../examples/support/tables.js';
import { packOf, talking } from '../support/talking.js';

const pack = packOf({
  a: { on_event: { Go: 'b' } },
  b: { orchestration: 'external', on_event: { End: 'c' } },
  c: { terminal: true },
});
const store = memoryStore();
const thread = 't';

/** What each row of the table gives, and what it must be. */
const ROWS: Readonly<
  Record<
    string,
    (
      c: PackConversation,
      options: OpenPackOptions,
    ) => Promise<readonly [unknown, unknown]> | readonly [unknown, unknown]
  >
> = {
  'await openPack(pack, options)': async (_, options) => [(await openPack(pack, options)).currentState, 'a'],
  'await openPack(pack, { store, thread })': async (c, options) => {
    await c.transition('Go');
    return [(await openPack(pack, { ...options, store, thread })).currentState, 'b'];
  },
  'await conversation.send(text, { signal })': async (c) => [
    (await c.send('Hi.', { signal: new AbortController().signal })).text,
    'A.',
  ],
  'await conversation.transition(event)': async (c) => [(await c.transition('Go')).state, 'b'],
  'conversation.currentState': (c) => [c.currentState, 'a'],
  'conversation.currentPromptTask': (c) => [c.currentPromptTask, 'p0'],
  'conversation.orchestration': async (c) => [
    [c.orchestration, (await c.transition('Go')) && c.orchestration],
    ['internal', 'external'],
  ],
  'conversation.availableEvents': (c) => [c.availableEvents, ['Go']],
  'conversation.isComplete': async (c) => {
    await c.transition('Go');
    const before = c.isComplete;
    await c.transition('End');
    return [
      [before, c.isComplete],
      [false, true],
    ];
  },
  'conversation.context()': (c) => [c.context().current_state, 'a'],
  'await conversation.close()': async (c) => [await c.close(), undefined],
  'await openPack(pack, { ...options, carryForward: true })': async (_, options) => {
    const carrying = await openPack(pack, { ...options, carryForward: true });
    return [(await carrying.send('Hi.')).text, 'A.'];
  },
  'await openPack(pack, { ...options, variables: {} })': async (_, options) => [
    (await openPack(pack, { ...options, variables: {} })).currentState,
    'a',
  ],
};

const TABLE = (await tableBelow('docs/machine.md', '### Conversations')).flatMap(([, ours]) => codeWords(ours));

describe('[33] coming from the SDK of PromptKit', () => {
  test.each(TABLE)('%s does what the table says', async (code) => {
    const row = ROWS[code];
    if (row === undefined) throw new Error(`no check for ${code}`);
    const { conversation, options } = await talking(
      pack,
      { a: ['A.'], c: ['C.'] },
      { store, thread: code.includes('thread') ? thread : code.slice(0, 100) },
    );
    const [given, expected] = await row(conversation, { models: options.models ?? {} });
    expect(given).toEqual(expected);
  });

  test('each check has its row', () => {
    expect(Object.keys(ROWS).toSorted()).toEqual([...TABLE].toSorted());
  });
});
