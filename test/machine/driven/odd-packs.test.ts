import { describe, expect, it } from 'vitest';
import { forkThread, getThread, memoryStore } from 'skein';
import { openPack } from 'skein/machine';
import { go, linesOf, packOf, set, talking } from '../support/talking.js';

const systemOf = (request: Parameters<typeof linesOf>[0] | undefined): string =>
  linesOf(request ?? { messages: [] })[0] ?? '';

describe('states', () => {
  it('[A8] may have any name: END, a/b, __proto__, one of 300 characters', async () => {
    const long = 'x'.repeat(300);
    const names = ['END', 'a/b', '__proto__', 'constructor', 'begin', '', 'ü.1', `${long}1`, `${long}2`, 'last'];
    const states = Object.fromEntries(
      names.map((name, at) => [
        name,
        at === names.length - 1 ? { terminal: true } : { on_event: { Next: names[at + 1] ?? '' } },
      ]),
    );
    const texts = Object.fromEntries(names.map((name, at) => [name, `You are s${at}.`]));
    const script = Object.fromEntries(
      names.map((_, at) => [`s${at}`, [at === names.length - 1 ? 'Done.' : { calls: [go('Next')] }]]),
    );
    const { conversation, speakers } = await talking(packOf(states, {}, texts), script);
    const { outcome, error, state, complete, transitions, messages } = await conversation.send('Go.');
    expect([outcome, error, state, complete]).toEqual(['succeeded', undefined, 'last', true]);
    expect(transitions.map(({ to }) => to)).toEqual(names.slice(1));
    expect(speakers()).toEqual(names.map((_, at) => `s${at}`));
    expect(messages.at(-1)?.current_workflow_state).toEqual({ current_state: 'last', terminal: true });
    expect(Object.keys(conversation.context().visit_counts ?? {}).toSorted()).toEqual(names.toSorted());
  });

  it('[A8] several turns in one state are one visit', async () => {
    const { conversation } = await talking(packOf({ a: { on_event: { Go: 'a' }, max_visits: 2 } }), {
      a: ['1', '2', '3'],
    });
    for (const text of ['x', 'y', 'z']) await conversation.send(text);
    expect(conversation.context().visit_counts).toEqual({ a: 1 });
  });
});

describe('artifacts', () => {
  const PACK = packOf(
    {
      a: {
        on_event: { Go: 'b' },
        artifacts: { note: { type: 'text/plain' }, __proto__x: { type: 'text/plain', mode: 'append' } },
      },
      b: { terminal: true },
    },
    {},
    { b: 'You are b. [{{artifacts.note}}] [{{artifacts.__proto__x}}]' },
  );

  it('[D2] of 10 MB are refused at the call, and the model goes on', async () => {
    const { conversation, requests } = await talking(PACK, {
      a: [{ calls: [set('note', 'x'.repeat(10 * 1024 * 1024))] }, { calls: [set('note', 'short'), go('Go')] }],
      b: ['Done.'],
    });
    const { state } = await conversation.send('Go.');
    expect([state, conversation.context().artifacts]).toEqual(['b', { note: 'short' }]);
    expect(linesOf(requests[1] ?? { messages: [] }).at(-1)).toMatch(
      /artifact "note" would have 10485760 bytes; at most 1048576/,
    );
  });

  it('[25] [37] are put together over turns, and are data in the prompt', async () => {
    const { conversation, requests } = await talking(PACK, {
      a: [
        { calls: [set('__proto__x', '{{secret}}')] },
        'Yes.',
        { calls: [set('__proto__x', ' {{artifacts.note}}'), go('Go')] },
      ],
      b: ['Done.'],
    });
    await conversation.send('1');
    await conversation.send('2');
    expect(systemOf(requests.at(-1))).toBe('system: You are b. [] [{{secret}} {{artifacts.note}}]');
    expect(conversation.context()).toMatchObject({ artifacts: { __proto__x: '{{secret}} {{artifacts.note}}' } });
  });
});

describe('variables', () => {
  const variables = [{ name: 'company', type: 'string', required: true }];
  const PACK = packOf(
    { a: { on_event: { Go: 'a' } } },
    { prompts: { p0: { variables } } },
    { a: 'You are a. [{{company}}]' },
  );

  it('[A9] are checked before the first call, and are data in the prompt', async () => {
    const { conversation, requests } = await talking(PACK, { a: ['Hello.'] });
    await expect(conversation.send('Hi.')).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
      message: expect.stringContaining('company') as string,
    });
    expect(requests).toEqual([]);
    conversation.setVariables({ company: '{{secret}} {{workflow_context}}' });
    await conversation.send('Hi.');
    expect(systemOf(requests[0])).toBe('system: You are a. [{{secret}} {{workflow_context}}]');
    conversation.setVariables({ company: 'Loom' });
    await conversation.send('Hi.');
    expect(systemOf(requests[1])).toBe('system: You are a. [Loom]');
  });

  it('are those of the call that gave them, also where the caller changes its values later', async () => {
    const tags = { name: 'tags', type: 'array', required: false };
    const texts = { a: 'You are a. [{{tags}}]' };
    const pack = packOf({ a: { on_event: { Go: 'a' } } }, { prompts: { p0: { variables: [tags] } } }, texts);
    const given = { tags: ['Loom'] };
    const { conversation, requests } = await talking(pack, { a: ['Hello.'] }, { variables: given });
    given.tags.push('Mill');
    await conversation.send('Hi.');
    const later = ['Ada'];
    conversation.setVariables({ tags: later });
    later.push('Bob');
    await conversation.send('Hi.');
    expect(requests.map(systemOf)).toEqual(['system: You are a. [["Loom"]]', 'system: You are a. [["Ada"]]']);
  });

  it('[A3] of a conversation that is continued stay', async () => {
    const store = memoryStore();
    const first = await talking(PACK, { a: ['Hello.'] }, { store, thread: 't', variables: { company: 'Loom' } });
    await first.conversation.send('Hi.');
    const second = await talking(PACK, { a: ['Hello.'] }, { store, thread: 't' });
    await second.conversation.send('Hi.');
    expect(systemOf(second.requests[0])).toBe('system: You are a. [Loom]');
  });
});

describe('a pack', () => {
  it('without a workflow talks with one of its prompts, for ever', async () => {
    const { workflow: _, ...pack } = packOf({ a: {}, b: {} });
    await expect(openPack(pack)).rejects.toThrow('pack has no workflow section');
    const { conversation, requests } = await talking(pack, { b: ['One.', 'Two.'] }, { prompt: 'p1', recent: 2 });
    expect((await conversation.send('1')).complete).toBe(false);
    const { text, state, complete } = await conversation.send('2');
    expect([text, state, complete, conversation.availableEvents, conversation.isComplete]).toEqual([
      'Two.',
      'p1',
      false,
      [],
      false,
    ]);
    expect(linesOf(requests[1] ?? { messages: [] })).toEqual([
      'system: You are b.',
      'user: 1',
      'assistant: One.',
      'user: 2',
    ]);
  });

  it('whose prompt lists a tool that nobody implements is refused before the first call', async () => {
    const pack = packOf(
      { a: {} },
      { prompts: { p0: { tools: ['look'] } }, tools: { look: { name: 'look', description: 'Looks.' } } },
    );
    await expect(openPack(pack)).rejects.toThrow('the tool "look" of the prompt "p0" has no function');
  });

  it('with errors is refused with all of them', async () => {
    const pack = packOf({ a: { on_event: { Go: 'nowhere' }, on_max_visits: 'nobody' } });
    await expect(openPack(pack)).rejects.toMatchObject({
      code: 'SKEIN_DEFINITION',
      message: expect.stringMatching(/nowhere.*nobody|nobody.*nowhere/s) as string,
    });
  });

  it('[J12] that was edited continues an old conversation: earlier turns never run again', async () => {
    const store = memoryStore();
    const states = { a: { on_event: { Go: 'b' } }, b: { on_event: { Back: 'a' } } };
    const first = await talking(packOf(states), { a: [{ calls: [go('Go')] }], b: ['Old.'] }, { store, thread: 't' });
    await first.conversation.send('Hi.');
    const edited = { ...states, b: { on_event: { Back: 'a', On: 'c' } }, c: { terminal: true } };
    const second = await talking(
      packOf(edited, {}, { b: 'You are b. Now.' }),
      { b: [{ calls: [go('On')] }], c: ['New.'] },
      { store, thread: 't' },
    );
    const { text, complete } = await second.conversation.send('And?');
    expect([text, complete, second.speakers()]).toEqual(['New.', true, ['b', 'c']]);
    expect(second.conversation.context().history.map(({ to }) => to)).toEqual(['b', 'c']);
    const { a } = states;
    const third = await talking(packOf({ a: { ...a, on_event: { Go: 'z' } }, z: {} }), {}, { store, thread: 't' });
    await expect(third.conversation.send('And?')).rejects.toMatchObject({ code: 'SKEIN_CONTEXT' });
  });

  it('[D6] whose bound is raised goes on where it ended', async () => {
    const store = memoryStore();
    const states = { a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' } } };
    const bounded = (max_total_visits: number) =>
      packOf(states, { workflow: { engine: { budget: { max_total_visits } } } });
    const script = { a: [{ calls: [go('Go')] }], b: [{ calls: [go('Go')] }] };
    const first = await talking(bounded(2), script, { store, thread: 't' });
    expect((await first.conversation.send('Hi.')).outcome).toBe('out_of_budget');
    await expect(first.conversation.send('Hi.')).rejects.toThrow('reached limit 2');
    const second = await talking(bounded(3), script, { store, thread: 't' });
    const { outcome, state } = await second.conversation.send('On.');
    expect([outcome, state, second.speakers()]).toEqual(['out_of_budget', 'a', ['b']]);
  });

  it('[J12] may be talked to from an earlier turn on: a fork of its thread', async () => {
    const store = memoryStore();
    const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { on_event: { Back: 'a' } } });
    const { conversation } = await talking(
      pack,
      { a: ['One.', { calls: [go('Go')] }], b: ['Two.'] },
      { store, thread: 't' },
    );
    await conversation.send('1');
    await conversation.send('2');
    forkThread(store, 't', 'fork', { turn: 1 });
    const fork = await talking(pack, { a: ['Other.'] }, { store, thread: 'fork' });
    expect(fork.conversation.currentState).toBe('a');
    await fork.conversation.send('3');
    expect(fork.conversation.messages.map(({ text }) => text)).toEqual(['1', 'One.', '3', 'Other.']);
    expect([conversation.currentState, getThread(store, 't').turns.length]).toEqual(['b', 2]);
  });

  it('whose turn fails stands where it stood, and takes the next one', async () => {
    const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { on_event: { Back: 'a' } } });
    const broken = (): never => {
      throw new Error('no model today');
    };
    const { conversation } = await talking(pack, { a: [{ calls: [go('Go')] }, 'Back again.'], b: [broken] });
    const { outcome, error, state, complete } = await conversation.send('1');
    expect([outcome, error?.message, state, complete]).toEqual([
      'failed',
      expect.stringContaining('no model today'),
      'a',
      false,
    ]);
    expect([conversation.currentState, conversation.messages, conversation.context().history]).toEqual(['a', [], []]);
    expect((await conversation.send('2')).text).toBe('Back again.');
  });
});
