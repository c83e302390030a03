import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { openPack, validatePack } from 'skein/machine';
import { go, linesOf, packOf, talking } from '../support/talking.js';

/** A desk that hands letters to a composition of two steps. */
const letters = packOf(
  {
    desk: { on_event: { Sort: 'sorting' } },
    sorting: { orchestration: 'composition', composition: 'sort', on_event: { Done: 'end' } },
    end: { terminal: true },
  },
  {
    prompts: {
      p1: {
        system_template: 'You are sorter. {{input}} for {{company}}',
        variables: [{ name: 'company', type: 'string', required: true }],
      },
    },
    tools: {
      file: {
        name: 'file',
        description: 'Files it.',
        parameters: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
      },
    },
    compositions: {
      sort: {
        version: 1,
        steps: [
          { id: 'kind', kind: 'prompt', prompt_task: 'p1', input: '${input.text}' },
          { id: 'filed', kind: 'tool', tool: 'file', args: { kind: '${kind.output}' } },
        ],
      },
    },
  },
);

it('[34] [A4] a turn ends in front of a composition; the next message runs it, and its output is the text of the turn', async () => {
  const filed: unknown[] = [];
  const tools = {
    file(input: object) {
      filed.push(input);
      return { filed: true };
    },
  };
  const { conversation, requests } = await talking(
    letters,
    { desk: [{ calls: [go('Sort')] }], sorter: ['a bill'], end: ['Bye.'] },
    { tools, variables: { company: 'Loom' } },
  );
  const first = await conversation.send('Sort my letters.');
  expect([first.state, first.text, requests.length]).toEqual(['sorting', '', 1]);
  const turn = await conversation.send('Pay 5.');
  expect([turn.text, turn.state, turn.outcome, filed]).toEqual([
    '{"filed":true}',
    'sorting',
    'succeeded',
    [{ kind: 'a bill' }],
  ]);
  expect(linesOf(requests[1] ?? { messages: [] })).toEqual(['system: You are sorter. Pay 5. for Loom', 'user: Pay 5.']);
  expect(
    turn.messages.map(({ role, by, text, current_workflow_state }) => [
      role,
      by,
      text,
      current_workflow_state.current_state,
    ]),
  ).toEqual([
    ['user', undefined, 'Pay 5.', 'sorting'],
    ['assistant', 'sort', '{"filed":true}', 'sorting'],
  ]);
  const last = await conversation.transition('Done');
  expect([last.state, last.text, last.complete]).toEqual(['end', 'Bye.', true]);
});

it('[44] a pack of one terminal composition is a function of a message', async () => {
  const pack = packOf(
    { main: { orchestration: 'composition', composition: 'c', terminal: true } },
    { compositions: { c: { version: 1, steps: [{ id: 'a', kind: 'prompt', prompt_task: 'p0', input: '${input}' }] } } },
    { main: 'You are main. {{artifacts.x}}{{workflow_context}}' },
  );
  const { conversation } = await talking(pack, { main: ['done'] });
  const turn = await conversation.send('Hi');
  expect([turn.text, turn.complete, turn.spent.usage]).toEqual(['done', true, { inputTokens: 1, outputTokens: 1 }]);
  await expect(conversation.send('More')).rejects.toThrow('workflow is in terminal state');
});

it('a composition that fails is a turn that does not count', async () => {
  const tools = {
    file: () => {
      throw new Error('no room');
    },
  };
  const { conversation } = await talking(
    letters,
    { sorter: ['a bill'] },
    { tools, state: 'sorting', variables: { company: 'Loom' } },
  );
  const turn = await conversation.send('Pay 5.');
  expect([turn.outcome, turn.error?.message, conversation.messages]).toEqual([
    'failed',
    expect.stringContaining('no room'),
    [],
  ]);
});

it('[A6] a tool step that a person must allow pauses the turn; when it is refused the turn fails', async () => {
  for (const answer of ['allow', 'deny']) {
    const made: unknown[] = [];
    const tools = { file: (input: object) => `${made.push(input)}` };
    const { conversation } = await talking(
      letters,
      { sorter: ['a bill'] },
      { tools, approve: { file: true }, state: 'sorting', variables: { company: 'Loom' } },
    );
    const paused = await conversation.send('Pay 5.');
    expect([paused.outcome, paused.pauses.map(({ question }) => question)]).toEqual([
      'paused',
      ['May the step call file with {"kind":"a bill"}?'],
    ]);
    const done = await conversation.answer(paused.pauses[0]?.key ?? '', answer);
    expect([done.outcome, made.length]).toEqual(answer === 'allow' ? ['succeeded', 1] : ['failed', 0]);
  }
});

it('a tool of a step that nobody implements, and a schema without a folder, are told before the first call', async () => {
  await expect(openPack(letters, { variables: { company: 'x' } })).rejects.toThrow(/no one implements the tool "file"/);
  const steps = [{ id: 'a', kind: 'prompt', prompt_task: 'p0', output_schema: 'schemas/a.json' }];
  const pack = packOf({ main: {} }, { compositions: { c: { version: 1, steps } } });
  await expect(openPack(pack)).rejects.toThrow(/the folder of the pack is not known/);
});

it('[42] [A12] a state has the skills that it may use: those that are preloaded in its prompt, the others by a tool', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pack-'));
  try {
    for (const [place, name] of [
      ['skills/billing/refunds', 'refunds'],
      ['skills/orders/returns', 'returns'],
      ['house', 'house-rules'],
    ] as const) {
      await mkdir(join(folder, place), { recursive: true });
      await writeFile(
        join(folder, place, 'SKILL.md'),
        `---\nname: ${name}\ndescription: About ${name}.\n---\nDo ${name}.\n`,
      );
    }
    const pack = packOf(
      {
        billing: { skills: 'skills/billing', on_event: { Next: 'plain' } },
        plain: { skills: 'none', on_event: { Next: 'all' } },
        all: {},
      },
      {
        skills: [
          './skills',
          { path: './house', preload: true },
          { name: 'inline', description: 'About inline.', instructions: 'Do inline.' },
        ],
      },
    );
    const script = {
      billing: [{ calls: [['skill__activate', { name: 'refunds' }]] }, { calls: [go('Next')] }] as never,
      plain: [{ calls: [go('Next')] }],
      all: ['there'],
    };
    const { conversation, requests } = await talking(pack, script, { folder });
    expect((await conversation.send('Hi')).text).toBe('there');
    const tools = requests.map((request) =>
      request.tools
        .find(({ name }) => name === 'skill__activate')
        ?.description.split('\n- ')
        .slice(1),
    );
    expect(tools).toEqual([
      ['refunds: About refunds.'],
      ['refunds: About refunds.'],
      undefined,
      ['refunds: About refunds.', 'returns: About returns.', 'inline: About inline.'],
    ]);
    expect(linesOf(requests[1] ?? { messages: [] }).at(-1)).toBe('tool: Do refunds.\n');
    const systems = requests.map(
      ({ messages: [first] }) => first?.role === 'system' && first.text.includes('Do house-rules.'),
    );
    expect(systems).toEqual([false, false, false, true]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('[J2] an edited text of a skill that a paused turn has read is read again, and what follows from it', async () => {
  const tools = { save: { name: 'save', description: 'Saves.', parameters: { type: 'object', properties: {} } } };
  const desk = (instructions: string) =>
    packOf(
      { desk: {} },
      {
        tools,
        prompts: { p0: { tools: ['save'] } },
        skills: [{ name: 'house', description: 'The rules.', instructions }],
      },
    );
  const answers = {
    desk: [{ calls: [['skill__activate', { name: 'house' }]] }, { calls: [['save', {}]] }, 'Saved.'],
  } as never;
  const store = memoryStore();
  const own = { store, thread: 't', tools: { save: () => 'ok' }, approve: { save: true } };
  const first = await talking(desk('Be quick.'), answers, own);
  const { pauses } = await first.conversation.send('Hi');
  expect(linesOf(first.requests[1] ?? { messages: [] }).at(-1)).toBe('tool: Be quick.');
  const then = await talking(desk('Be kind.'), { desk: ['Kindly saved.'] }, own);
  const turn = await then.conversation.answer(pauses[0]?.key ?? '', 'allow');
  expect([turn.text, linesOf(then.requests[0] ?? { messages: [] }).at(-1)]).toEqual([
    'Kindly saved.',
    'tool: Be kind.',
  ]);
});

it('[43] [A13] an agent with a state talks there, one without talks with its prompt alone', async () => {
  const states = { first: { on_event: { Go: 'second' } }, second: { terminal: true } };
  const agents = { entry: 'p0', members: { p0: { state: 'second' }, p1: {} } };
  const pack = packOf(states, { agents });
  const store = memoryStore();
  const there = await talking(pack, { second: ['Here.'] }, { agent: 'p0', store, thread: 't' });
  expect([there.conversation.currentState, (await there.conversation.send('Hi')).complete]).toEqual(['second', true]);
  const again = await talking(pack, {}, { agent: 'p0', store, thread: 't' });
  expect(again.conversation.isComplete).toBe(true);
  const alone = await talking(pack, { second: ['Alone.', 'Still.'] }, { agent: 'p1' });
  expect([(await alone.conversation.send('Hi')).text, (await alone.conversation.send('Hi')).complete]).toEqual([
    'Alone.',
    false,
  ]);
  await expect(openPack(pack, { agent: 'p2' })).rejects.toThrow('the pack has no agent "p2"');
  await expect(openPack(pack, { agent: 'p0', state: 'first' })).rejects.toThrow(
    'a conversation begins by one option alone, not by agent and state',
  );
});

it('[A9] what a step gives to its prompt is missing where a state or an agent talks with that prompt: nothing is called', async () => {
  const steps = [{ id: 'a', kind: 'prompt', prompt_task: 'p0', input: '${input}' }];
  const pack = packOf(
    { talk: { on_event: { Go: 'work' } }, work: { orchestration: 'composition', composition: 'c', terminal: true } },
    { compositions: { c: { version: 1, steps } }, agents: { entry: 'p0', members: { p0: {} } } },
    { talk: 'You are talk. {{input}}' },
  );
  const warned = validatePack(pack).map(({ code, message }) => `${code}: ${message}`);
  expect(warned).toContain('unknown-placeholder: prompts["p0"]: {{input}} is neither a variable nor a fragment');
  for (const begin of [{}, { agent: 'p0' }, { prompt: 'p0' }]) {
    const { conversation, requests } = await talking(pack, { talk: ['Hi.'] }, begin);
    await expect(conversation.send('Hello')).rejects.toMatchObject({
      code: 'SKEIN_INPUT',
      message: 'prompts["p0"]: {{input}} has no value',
    });
    expect(requests).toEqual([]);
  }
  const begun = await talking(pack, { talk: ['Hi.'] }, { state: 'work' });
  expect((await begun.conversation.send('Hello')).text).toBe('Hi.');
  const given = await talking(pack, { talk: ['Hi.'] }, { variables: { input: 'all' } });
  expect((await given.conversation.send('Hello')).text).toBe('Hi.');
});
