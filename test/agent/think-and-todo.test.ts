import { describe, expect, it } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import { selectTools } from '../../src/plan/tool-names.js';
import { outputOf, runAgent } from './support/run-agent.js';
import type { Said } from './support/counted-agent.js';
import { countedRun, recordUntil } from './support/counted-agent.js';

const ALL = { tools: ['think', 'todo'] };

describe('think', () => {
  it('gives the thought back, without an effect and without asking anybody', async () => {
    const said: readonly Said[] = [{ calls: [['think', '{"thought":"first a, then b"}']] }, { text: 'Done.' }];
    const { result, step } = await countedRun({ said, spec: { tools: ['think'], permissions: {} } });
    expect(outputOf(result)).toBe('Done.');
    expect(step.of('tool.ended')).toEqual([
      { kind: 'tool.ended', id: 'c1.1', tool: 'think', status: 'ok', output: 'first a, then b' },
    ]);
    expect([step.effects, step.asked]).toEqual([['open', 'model#1', 'model#2', 'close'], []]);
  });

  it('is there for agents that name it, and for no others', async () => {
    const offered = async (tools: readonly string[] | undefined) => {
      let names: readonly string[] = [];
      const spy: Model = {
        id: 'own/m',
        async *stream(request) {
          names = request.tools.map(({ name }) => name);
          yield { type: 'text', text: 'Done.' };
          yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
        },
      };
      const spec = { models: ['own/m'], ...(tools === undefined ? {} : { tools }) };
      await runAgent({ spec, models: { providers: { own: () => spy } } });
      return names;
    };
    expect(await offered(undefined)).toEqual([]);
    expect(await offered([])).toEqual([]);
    expect(await offered([' think '])).toEqual(['think']);
    expect(await offered(['todo'])).toEqual(['create_todo', 'create_todos', 'update_todo', 'list_todos']);
    expect(await offered(['list_todos', 'create_todo'])).toEqual(['create_todo', 'list_todos']);
  });
});

it('naming them is no mistake, and makes no tool of the provider', () => {
  const names = ['think', 'todo', 'create_todo', 'create_todos', 'update_todo', 'list_todos'];
  const { builtIn, unknown } = selectTools(names, []);
  expect([builtIn.size, unknown]).toEqual([0, []]);
});

describe('the list of todos', () => {
  const said: readonly Said[] = [
    {
      calls: [
        ['create_todo', '{"description":"read"}'],
        ['create_todos', '{"descriptions":["write\\n it","test"]}'],
      ],
    },
    { calls: [['update_todo', '{"id":"todo_2","status":"completed"}']] },
    { calls: [['list_todos', '{}']] },
    { text: 'Done.' },
  ];
  const LIST = '[todo_1] pending: read\n[todo_2] completed: write it\n[todo_3] pending: test';

  it('is made, changed and shown', async () => {
    const { step } = await countedRun({ said, spec: ALL });
    expect(step.of('tool.ended').map(({ output }) => output)).toEqual([
      '[todo_1] pending: read',
      '[todo_2] pending: write it\n[todo_3] pending: test',
      '[todo_2] completed: write it',
      LIST,
    ]);
  });

  it.each(['model#2', 'model#3', 'model#4'])('is the same after the process died at %s', async (dieAt) => {
    const replay = await recordUntil(dieAt, { said, spec: ALL });
    const { step, result } = await countedRun({ said, spec: ALL, replay });
    expect(outputOf(result)).toBe('Done.');
    expect(step.of('tool.ended').at(-1)?.output).toBe(LIST);
  });

  it('begins anew in each step', async () => {
    await countedRun({ said, spec: ALL });
    const { step } = await countedRun({ said: [{ calls: [['list_todos', '{}']] }, { text: 'Done.' }], spec: ALL });
    expect(step.of('tool.ended')[0]?.output).toBe('The list is empty.');
  });

  it.each([
    ['update_todo', '{"id":"todo_7","status":"completed"}', 'there is no todo "todo_7"'],
    ['update_todo', '{"id":"todo_1","status":"done"}', 'does not match its schema'],
    ['create_todo', '{"description":""}', 'does not match its schema'],
    ['create_todos', '{"descriptions":[]}', 'does not match its schema'],
    ['create_todos', JSON.stringify({ descriptions: Array.from({ length: 501 }, () => 'x') }), 'at most 500'],
  ])('%s(%s): the model is told what is wrong', async (name, input, message) => {
    const wrong: readonly Said[] = [{ calls: [[name, input]] }, { text: 'Done.' }];
    const { step, result } = await countedRun({ said: wrong, spec: ALL });
    expect(outputOf(result)).toBe('Done.');
    const [ended] = step.of('tool.ended');
    expect([ended?.status, ended?.output]).toEqual(['error', expect.stringContaining(message)]);
  });

  it('cannot be reached from inside of a model call, which a replay does not run', async () => {
    const backEnd: Model = {
      id: 'own/m',
      async *stream(request) {
        const list = await request.dispatch({ id: '1', name: 'list_todos', input: '{}' });
        const thought = await request.dispatch({ id: '2', name: 'think', input: '{"thought":"hm"}' });
        yield { type: 'text', text: `${list.output} ${thought.output}` };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const spec = { models: ['own/m'], ...ALL };
    const { result } = await runAgent({ spec, models: { providers: { own: () => backEnd } } });
    expect(outputOf(result)).toMatch(/^Error: the list of todos can't be reached from inside of a model call.* hm$/);
  });
});
