import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentAsTool, agentNode, agentTeam, graph, planAndExecute, reflectionLoop } from 'skein/graph';
import type { AnyAgent } from 'skein/graph';
import { z } from 'zod';
import { estimateCalls } from '../../src/plan/envelope.js';
import { collect } from './support.js';
import { ownModels, promptOf, resultsIn } from './support-agents.js';
import type { ModelRequest } from '../../src/agent/model.js';
import type { Said } from './support-agents.js';

const named = (name: string) => agent({ name, model: `own/${name}` });

/** A model that answers with one after the other. */
function inTurn(...said: readonly Said[]): () => Said {
  let at = 0;
  return () => said[at++] ?? 'over';
}

const loopOf = (critic: AnyAgent = named('critic'), more = {}) =>
  reflectionLoop({ worker: named('worker'), critic, ...more });

describe('[62] decision 10: a worker and a critic', () => {
  test('[62] draft until the critic accepts with the marker on a line of its own', async () => {
    const { models, asked } = ownModels({
      worker: inTurn('draft 1', 'draft 2'),
      critic: inTurn('Too short.', 'Good now.\n**Accept**.'),
    });
    const result = await loopOf().run('write', { models });
    expect(result).toMatchObject({ success: true, answer: 'draft 2', accepted: true, attempts: 2 });
    expect(asked[0]).toBe('worker: write');
    expect(asked[1]).toMatch(/^critic: Task:\nwrite\n\nDraft:\ndraft 1\n\n.*ACCEPT on a line of its own/s);
    expect(asked[2]).toMatch(/^worker: write\n.*draft 1.*Too short\./s);
    expect(asked).toHaveLength(4);
  });

  test.each([
    ['a sentence with the marker', 'DO NOT ACCEPT', false],
    ['a word that begins with it', 'ACCEPTABLE', false],
    ['the marker in a line', 'I would accept this.', false],
    ['the marker alone', 'accept', true],
    ['the marker among lines', 'Fine.\n\n  ACCEPT  \nBye.', true],
    ['a structured yes', '{"accepted": true}', true],
    [
      'a structured no, whatever else stands there',
      'ACCEPT\n```json\n{"accepted": false, "critique": "ACCEPT"}\n```',
      false,
    ],
    ['a structured word', '{"verdict": "accept"}', true],
    ['another structured word', '{"verdict": "revise"}', false],
  ])('[62] decision 10: %s', async (_what, said, accepted) => {
    const { models } = ownModels({ worker: () => 'draft', critic: () => said });
    const result = await loopOf(undefined, { maxAttempts: 1 }).run('write', { models });
    expect(result).toMatchObject({ success: true, accepted, attempts: 1, answer: 'draft' });
  });

  test('[62] the last draft is the answer also when it was never accepted', async () => {
    const { models, asked } = ownModels({ worker: inTurn('d1', 'd2', 'd3'), critic: () => 'no' });
    const result = await loopOf().run('write', { models });
    expect(result).toMatchObject({ success: true, outcome: 'succeeded', answer: 'd3', accepted: false, attempts: 3 });
    expect(asked.filter((each) => each.startsWith('worker'))).toHaveLength(3);
  });

  test('[62] a critic with a structured output says yes and no by its schema', async () => {
    const critic = agent({
      name: 'critic',
      model: 'own/critic',
      output: z.object({ accepted: z.boolean(), critique: z.string() }),
    });
    const { models, asked } = ownModels({
      worker: inTurn('d1', 'd2'),
      critic: inTurn('{"accepted":false,"critique":"more sea"}', '{"accepted":true,"critique":""}'),
    });
    const result = await loopOf(critic).run('write', { models });
    expect(result).toMatchObject({ answer: 'd2', accepted: true, attempts: 2 });
    expect(asked[2]).toContain('It was not accepted:\nmore sea\n');
  });

  test('[62] its events are labelled worker and critic, and the texts may be others', async () => {
    const { models, asked } = ownModels({ worker: inTurn('d1', 'd2'), critic: inTurn('no', 'FINE') });
    const loop = loopOf(undefined, {
      marker: 'FINE',
      ask: (draft: string, task: string) => `judge ${draft} for ${task}`,
      revise: (task: string, draft: string, critique: string) => `${task} again: ${draft} ${critique}`,
    });
    const events = await collect(loop.stream('write', { models }));
    const turns = events
      .filter(({ type }) => type === 'model_end')
      .map(({ source, metadata }) => [source, metadata['text']]);
    expect(turns).toEqual([
      ['worker', 'd1'],
      ['critic', 'no'],
      ['worker', 'd2'],
      ['critic', 'FINE'],
    ]);
    expect(asked).toEqual([
      'worker: write',
      'critic: judge d1 for write',
      'worker: write again: d1 no',
      'critic: judge d2 for write',
    ]);
    expect(events.at(-2)).toMatchObject({ type: 'answer', source: null, metadata: { answer: 'd2' } });
  });

  test('[62] decision 9: a worker that fails fails the loop', async () => {
    const worker: AnyAgent = { run: () => ({ success: false, error: 'out of ideas' }) };
    const { models } = ownModels({});
    const result = await reflectionLoop({ worker, critic: named('critic') }).run('write', { models });
    expect(result).toMatchObject({ success: false, accepted: false, attempts: 0 });
    expect(result.error?.message).toBe("agentNode('worker'): the agent failed: out of ideas");
  });

  test('a recorded loop goes on with the draft that it had', async () => {
    let broken = true;
    const { models, asked } = ownModels({
      worker: ({ caller }) => `draft in ${caller.path}`,
      critic: ({ caller }) => {
        if (broken && caller.path.includes('#2')) throw new Error('the power fails');
        return caller.path.includes('#2') ? 'ACCEPT' : 'no';
      },
    });
    const store = memoryStore();
    const loop = loopOf();
    const { runId, success } = await loop.run('write', { models, store });
    broken = false;
    const second = await loop.run('write', { models, store, resume: runId });
    expect([success, second.answer, second.accepted]).toEqual([false, 'draft in draft#2/worker', true]);
    expect(asked.map((each) => each.split(':')[0])).toEqual(['worker', 'critic', 'worker', 'critic', 'critic']);
  });

  test('it is an agent like any other: a node, with its parts in the plan', async () => {
    const { models } = ownModels({ worker: () => 'draft', critic: () => 'ACCEPT' });
    const flow = graph<{ task: string }>().node('write', agentNode(loopOf())).setEntry('write');
    expect((await flow.run({ task: 'x' }, { models })).state.write).toBe('draft');
    expect(flow.toMermaid()).toMatch(/subgraph[\s\S]*worker[\s\S]*critic/);
    expect(() => loopOf(undefined, { maxAttempts: 0 })).toThrow(/maxAttempts must be a whole number from 1/);
  });
});

describe('[62] a planner and an executor', () => {
  const worker = (more = {}) => planAndExecute({ planner: named('planner'), executor: named('executor'), ...more });

  test.each([
    ['a JSON list', '["one", "two"]'],
    ['a list in a fence', 'Here:\n```json\n["one","two"]\n```'],
    ['the key steps', '{"steps": ["one", "two"]}'],
    ['the key plan, of objects', '{"plan": [{"step": "one"}, {"description": "two"}]}'],
    ['the key tasks', '{"tasks": ["one", "two"]}'],
    ['lines with bullets', '- one\n\n* two'],
    ['lines with numbers', '1. one\n2) two\n'],
  ])('[62] the steps come from %s', async (_what, said) => {
    const { models, asked } = ownModels({ planner: () => said, executor: (request) => `did ${promptOf(request)}` });
    const result = await worker().run('all of it', { models });
    expect(result).toMatchObject({ success: true, tasks: ['one', 'two'], results: ['did one', 'did two'] });
    expect(result.answer).toBe('did one\n\ndid two');
    expect(asked).toEqual(['planner: all of it', 'executor: one', 'executor: two']);
  });

  const failsAtTwo = (): Record<string, (request: ModelRequest) => Said> => ({
    planner: () => 'one\ntwo\nthree',
    executor: (request) => {
      if (promptOf(request) === 'two') throw new Error('two is broken');
      return `did ${promptOf(request)}`;
    },
  });

  test('[62] the first step that fails ends it', async () => {
    const { models, asked } = ownModels(failsAtTwo());
    const result = await worker().run('x', { models });
    expect([result.success, result.error?.message, asked.at(-1)]).toEqual([false, 'two is broken', 'executor: two']);
  });

  test('[62] or it goes on, and the result of that step is null', async () => {
    const { models } = ownModels(failsAtTwo());
    const result = await worker({ stopOnError: false }).run('x', { models });
    expect(result).toMatchObject({
      outcome: 'degraded',
      results: ['did one', null, 'did three'],
      answer: 'did one\n\ndid three',
    });
  });

  test('[62] no steps, and more than allowed, are failures', async () => {
    const none = ownModels({ planner: () => '[]' });
    expect((await worker().run('x', { models: none.models })).error?.message).toBe('the planner named no steps');
    const many = ownModels({ planner: () => 'a\nb\nc' });
    expect((await worker({ maxSteps: 2 }).run('x', { models: many.models })).error?.code).toBe('SKEIN_MAX_ITEMS');
  });

  test('a recorded run goes on at the step that failed', async () => {
    const answers = failsAtTwo();
    const { models, asked } = ownModels({ ...answers, executor: (request) => answers['executor']?.(request) ?? '' });
    const store = memoryStore();
    const first = await worker().run('x', { models, store });
    answers['executor'] = (request) => `did ${promptOf(request)}`;
    const second = await worker().run('x', { models, store, resume: first.runId });
    expect(second.results).toEqual(['did one', 'did two', 'did three']);
    expect(asked).toEqual(['planner: x', 'executor: one', 'executor: two', 'executor: two', 'executor: three']);
  });
});

describe('[62] an agent as a tool', () => {
  const lead = (worker: AnyAgent, param?: string) =>
    agent({
      name: 'lead',
      model: 'own/lead',
      tools: [
        agentAsTool(worker, { name: 'helper', description: 'Helps.', ...(param === undefined ? {} : { param }) }),
      ],
    });
  const asksTwice = inTurnOf(
    { calls: [['helper', { task: 'a' }] as const, ['helper', { task: 'b' }] as const] },
    'done',
  );

  function inTurnOf(...said: readonly Said[]) {
    return ({ caller }: { readonly caller: { readonly turn: number } }): Said => said[caller.turn - 1] ?? 'over';
  }

  test('[62] it has one required text, and its answer is the result of the call', async () => {
    const { models, requests } = ownModels({ lead: asksTwice, helper: (request) => `did ${promptOf(request)}` });
    const result = await lead(named('helper')).run('go', { models });
    expect(result.answer).toBe('done');
    const [spec] = requests.find(({ caller }) => caller.agent === 'lead')?.tools ?? [];
    expect(spec).toMatchObject({ name: 'helper', description: 'Helps.', inputSchema: { required: ['task'] } });
    expect(resultsIn(requests.at(-1) as never)).toEqual(['did a', 'did b']);
  });

  test('[62] its events are told under its name, each call with a parent of its own, the same after every replay', async () => {
    const { models } = ownModels({ lead: asksTwice, helper: () => 'ok' });
    const told = async () =>
      (await lead(named('helper')).run('go', { models, runId: 'r1' })).steps.filter(
        ({ source }) => source === 'helper',
      );
    const events = await told();
    const answers = events.filter(({ type }) => type === 'answer');
    expect(answers).toHaveLength(2);
    expect(new Set(answers.map(({ parentEventId }) => parentEventId)).size).toBe(2);
    const parents = (list: typeof events) => new Set(list.map(({ parentEventId }) => parentEventId));
    expect(parents(await told())).toEqual(parents(events));
  });

  test('[62] decision 9: a failure of it is an error result, and it is not called again', async () => {
    let calls = 0;
    const broken: AnyAgent = {
      run: () => 'never',
      async *stream() {
        calls += 1;
        yield { type: 'thought' };
        throw new Error('connection lost');
      },
    };
    const { models, requests } = ownModels({ lead: inTurnOf({ calls: [['helper', { task: 'a' }]] }, 'done') });
    const result = await lead(broken).run('go', { models });
    expect([result.answer, calls]).toEqual(['done', 1]);
    expect(resultsIn(requests.at(-1) as never)).toEqual(['Error: connection lost']);
  });

  test('[62] a task that is no text never reaches it', async () => {
    const tasks: string[] = [];
    const helper: AnyAgent = { run: (task) => tasks.push(task) && 'ok' };
    const { models, requests } = ownModels({
      lead: inTurnOf(
        {
          calls: [
            ['helper', { subject: 5 }],
            ['helper', {}],
            ['helper', { subject: 'a', more: 1 }],
          ],
        },
        'done',
      ),
    });
    await lead(helper, 'subject').run('go', { models });
    expect(tasks).toEqual([]);
    for (const result of resultsIn(requests.at(-1) as never))
      expect(result).toMatch(/^Error: the input of helper does not match/);
  });
});

describe('[62] a team', () => {
  const member = (name: string, one: AnyAgent = named(name)) => ({ name, agent: one, description: `Does ${name}.` });

  test('[62] without workers, with two of one name, or with a supervisor without tools it is refused', () => {
    expect(() => agentTeam({ supervisor: named('lead'), workers: [] })).toThrow(/a team needs workers/);
    expect(() => agentTeam({ supervisor: named('lead'), workers: [member('a'), member('a')] })).toThrow(
      /two workers of the team are named "a"/,
    );
    expect(() => agentTeam({ supervisor: loopOf(), workers: [member('a')] })).toThrow(
      /the supervisor of a team must be an agent that takes tools/,
    );
    const lead = agent({ name: 'lead', tools: [agentAsTool(named('b'), { name: 'a', description: '' })] });
    expect(() => agentTeam({ supervisor: lead, workers: [member('a')] })).toThrow(/has two tools named "a"/);
  });

  test('[62] the supervisor gives work to agents, graphs and loops, all with the models of the run', async () => {
    const { models, asked, requests } = ownModels({
      lead: ({ caller }) =>
        caller.turn === 1
          ? {
              calls: [
                ['search', { task: 's' }],
                ['research', { task: 'r' }],
                ['write', { task: 'w' }],
              ],
            }
          : 'all done',
      search: () => 'found',
      inner: () => 'researched',
      worker: () => 'written',
      critic: () => 'ACCEPT',
    });
    const research = graph<{ task: string }>()
      .node('ask', agentNode(named('inner')))
      .node('loud', ({ ask }) => ask.toUpperCase())
      .setEntry('ask');
    const team = agentTeam({
      supervisor: named('lead'),
      workers: [member('search'), member('research', research.asAgent()), member('write', loopOf())],
    });
    const result = await team.run('go', { models });
    expect(result).toMatchObject({ success: true, answer: 'all done' });
    expect(resultsIn(requests.at(-1) as never)).toEqual(['found', 'RESEARCHED', 'written']);
    expect(asked[0]).toBe('lead: go');
    expect(result.steps.filter(({ type }) => type === 'model_end').map(({ source }) => source)).toContain('worker');
  });

  test('what a team can cost at most is known before it runs', () => {
    const lead = agent({ name: 'lead', maxTurns: 4, maxToolCalls: 3 });
    const inner = graph<{ task: string }>()
      .node('a', agentNode(named('a')))
      .node('b', agentNode(named('b')))
      .setEntry('a')
      .setExit('b');
    const team = agentTeam({ supervisor: lead, workers: [member('search'), member('inner', inner.asAgent())] });
    expect(estimateCalls(team.plan).modelCalls).toEqual({ typical: 4, worst: 3 * (4 + 3 * 2) });
    expect(estimateCalls(agentTeam({ supervisor: lead, workers: [member('team', team)] }).plan).modelCalls.worst).toBe(
      3 * (4 + 3 * 10),
    );
  });

  test('[62] a recorded team goes on without giving finished work again', async () => {
    let broken = true;
    const { models, asked } = ownModels({
      lead: ({ caller }) => {
        if (broken && caller.turn === 2) throw new Error('the power fails');
        return caller.turn === 1 ? { calls: [['search', { task: 's' }]] } : 'done';
      },
      search: () => 'found',
    });
    const team = agentTeam({ supervisor: named('lead'), workers: [member('search')] });
    const store = memoryStore();
    const { runId } = await team.run('go', { models, store });
    broken = false;
    const second = await team.run('go', { models, store, resume: runId });
    expect([second.answer, asked]).toEqual(['done', ['lead: go', 'search: s', 'lead: go', 'lead: go']]);
  });
});
