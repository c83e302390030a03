import { expect, it } from 'vitest';
import { getThread, listRuns, memoryStore, SkeinError } from 'skein';
import { tool } from 'skein/graph';
import { StateMachine, validatePack } from 'skein/machine';
import { rejected } from '../../thrown.js';
import { go, linesOf, packOf, talking } from '../support/talking.js';

const flipping = packOf({ a: { on_event: { Flip: 'b' } }, b: { on_event: { Flip: 'a' } } });

it('[21] beyond 1,000 transitions each turn is kept, too; a context has the newest, with exact totals', async () => {
  const machine = new StateMachine(flipping.workflow);
  for (let at = 0; at < 998; at += 1) machine.processEvent('Flip');
  const store = memoryStore();
  const { conversation } = await talking(flipping, {}, { store, thread: 't', context: machine.context() });
  for (let at = 0; at < 5; at += 1) await conversation.transition('Flip');
  const { conversation: again } = await talking(flipping, {}, { store, thread: 't' });
  const { history, metadata, visit_counts, current_state } = again.context();
  expect([current_state, history.length, metadata?.['skein.transitions'], visit_counts]).toEqual([
    'b',
    1_000,
    1_003,
    { a: 502, b: 502 },
  ]);
  await again.transition('Flip');
  expect([again.context().history.at(-1)?.to, again.context().metadata?.['skein.transitions']]).toEqual(['a', 1_004]);
});

const tooled = packOf(
  { a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' } } },
  {
    tools: { look: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } } },
    prompts: { p1: { tools: ['look'] } },
  },
);

it('[36] tools that are given once are there in each state, after hand-overs and after it was opened again', async () => {
  const store = memoryStore();
  const seen: string[] = [];
  const inputSchema = { type: 'object' } as const;
  const look = tool({ name: 'look', inputSchema, effect: 'read', execute: () => `${seen.push('looked')}` });
  const tools = { look };
  const script = { a: [{ calls: [go('Go')] }], b: [{ calls: [['look', {}]] }, 'Seen.'] } as const;
  const { conversation } = await talking(tooled, script, { tools, store, thread: 't' });
  expect((await conversation.send('Hi')).text).toBe('Seen.');
  const { conversation: again } = await talking(tooled, script, { tools, store, thread: 't' });
  expect([(await again.send('More')).text, seen.length]).toEqual(['Seen.', 2]);
});

it('[39] an event whose destination fails does not count: the machine stands where it stood', async () => {
  const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { terminal: true } });
  const fails = () => {
    throw new Error('the model is down');
  };
  const { conversation } = await talking(pack, { a: ['Hello.'], b: [fails] });
  await conversation.send('Hi');
  const turn = await conversation.transition('Go', { message: 'On.' });
  expect([turn.outcome, turn.state, conversation.currentState, conversation.availableEvents]).toEqual([
    'failed',
    'a',
    'a',
    ['Go'],
  ]);
  expect(conversation.context().history).toEqual([]);
});

it('[A7] what is sent begins with a message of the user, and keeps calls of tools that the present state lacks', async () => {
  const pack = packOf(
    { a: { on_event: { Go: 'b' } }, b: {} },
    {
      tools: { look: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } } },
      prompts: { p0: { tools: ['look'] } },
    },
  );
  const script = { a: [{ calls: [['look', {}]] }, { calls: [go('Go')] }], b: ['Done.'] } as const;
  const { conversation, requests } = await talking(pack, script, { tools: { look: () => 'seen' } });
  await conversation.send('Hi');
  const last = requests.at(-1);
  expect(last?.tools.map(({ name }) => name)).toEqual([]);
  expect(linesOf(last ?? { messages: [] }).slice(1, 4)).toEqual(['user: Hi', 'assistant:  ->look', 'tool: seen']);
});

const text = (workflow: string): string =>
  `{"id":"p","name":"P","version":"1.0.0","template_engine":{"version":"v1","syntax":"{{variable}}"},
    "prompts":{"p":{"id":"p","name":"P","version":"1.0.0","system_template":"You."}}${workflow}}`;

it('[V3] the artifacts of a state have names of their own', () => {
  const artifacts = '{"plan":{"type":"text/plain"},"plan":{"type":"text/plain"}}';
  const workflow = `,"workflow":{"version":1,"entry":"a","states":{"a":{"prompt_task":"p","artifacts":${artifacts},"terminal":true}}}`;
  expect(validatePack(text(workflow)).map(({ severity, message }) => `${severity} ${message}`)).toEqual([
    expect.stringMatching(/^error .*plan/),
  ]);
});

it('[V6] a pack without a workflow, and a workflow without bounds and artifacts, have no findings', () => {
  expect(validatePack(text(''))).toEqual([]);
  const workflow =
    ',"workflow":{"version":1,"entry":"a","states":{"a":{"prompt_task":"p","on_event":{"Go":"b"}},"b":{"prompt_task":"p","terminal":true}}}';
  expect(validatePack(text(workflow))).toEqual([]);
});

it('a conversation with another pack is refused by name, whatever else is missing; an edited pack continues', async () => {
  const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { terminal: true } });
  const store = memoryStore();
  await (await talking(pack, { a: ['Hello.'] }, { store, thread: 't' })).conversation.send('Hi');
  const other = { ...packOf({ a: { on_event: { Stop: 'c' } }, c: { terminal: true } }), id: 'another' };
  const error = await rejected(() => talking(other, {}, { store, thread: 't', state: 'c' }));
  expect([error.code, error.message]).toEqual([
    'SKEIN_THREAD',
    `the thread 't' is one of the workflow '${pack.id}', not of 'another'`,
  ]);
  const { conversation } = await talking(other, { a: ['Mine.'] }, { store, thread: 'u' });
  await conversation.send('Hi');
  expect((await rejected(() => conversation.resume('t'))).code).toBe('SKEIN_THREAD');
  const edited = packOf({ a: { on_event: { Stop: 'c' } }, c: { terminal: true } });
  const { conversation: again } = await talking(edited, { a: ['Again.'] }, { store, thread: 't' });
  expect((await again.send('Hi')).text).toBe('Again.');
});

it('a turn whose process died before its run was recorded has nothing to continue: the next message passes over it', async () => {
  const pack = packOf({ a: { on_event: { Go: 'b' } }, b: { terminal: true } });
  const store = memoryStore();
  let dead = false;
  const dying = new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        dead ||= key === 'create' && listRuns(target).length > 0;
        if (dead && (key === 'create' || key === 'append')) throw new SkeinError('SKEIN_STORE', 'the process is dead');
        return Reflect.apply(value, target, given);
      };
    },
  });
  const { conversation: first } = await talking(pack, { a: ['Hello.'] }, { store: dying, thread: 't' });
  await first.send('Hi');
  await rejected(() => first.send('More'));
  expect(getThread(store, 't').turns.map(({ status }) => status)).toEqual(['succeeded', 'interrupted']);
  const { conversation } = await talking(pack, { a: ['Hello again.'] }, { store, thread: 't' });
  expect(await conversation.resume()).toBe(undefined);
  expect((await rejected(() => conversation.answer('a', 'yes'))).code).toBe('SKEIN_ANSWER');
  expect((await conversation.send('Still there?')).text).toBe('Hello again.');
});
