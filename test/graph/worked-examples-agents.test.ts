import { describe, expect, test } from 'vitest';
import { agent, agentNode, agentTeam, graph, reducers, workflowNode } from 'skein/graph';
import type { AgentLike, GraphEvent } from 'skein/graph';
import type { Model, ModelPart } from 'skein/agent';

/** A model that answers the calls of an agent one after another, and keeps what it was asked. */
function scripted(answers: readonly (string | { readonly tool: string; readonly input: object })[]) {
  const asked: string[] = [];
  const model: Model = {
    id: 'toy/scripted',
    structuredOutput: true,
    async *stream({ messages }): AsyncGenerator<ModelPart> {
      const answer = answers[asked.length];
      asked.push(JSON.stringify(messages.at(-1)));
      if (answer === undefined) throw new Error('a call that nobody planned');
      if (typeof answer === 'string') yield { type: 'text', text: answer };
      else
        yield {
          type: 'tool-call',
          call: { id: `call-${asked.length}`, name: answer.tool, input: JSON.stringify(answer.input) },
        };
      const reason = typeof answer === 'string' ? 'stop' : 'tool-calls';
      yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  return { asked, model };
}

describe('15.4 an explicit state graph with agents and a reducer', () => {
  interface State {
    task: string;
    messages: string[];
    final: string;
  }

  const flowOf = (researcher: AgentLike, coder: AgentLike) =>
    graph<State>({ reducers: { messages: reducers.append } })
      .addNode('researcher', agentNode(researcher, { taskParam: 'task' }), { output: 'messages' })
      .addNode('coder', agentNode(coder, { taskParam: 'task' }), { output: 'messages' })
      .addNode('finalize', ({ messages }) => ({ final: messages.join('\n') }))
      .addEdge('researcher', 'finalize')
      .addEdge('coder', 'finalize')
      .setEntry('researcher')
      .setExit('finalize');

  test('with agents of Skein: both start, and their answers are in the order of the nodes', async () => {
    const models = { researcher: scripted(['found it']), coder: scripted(['wrote it']) };
    const flow = flowOf(
      agent({ name: 'researcher', model: 'toy/researcher', instructions: 'You look things up.' }),
      agent({ name: 'coder', model: 'toy/coder', instructions: 'You write code.' }),
    );
    const toy = (name: string): Model => models[name as keyof typeof models].model;
    const { state, success, nodesRun } = await flow
      .compile()
      .run({ task: 'Sort a list.' }, { models: { env: {}, providers: { toy } } });
    expect(success).toBe(true);
    expect(state).toEqual({ task: 'Sort a list.', messages: ['found it', 'wrote it'], final: 'found it\nwrote it' });
    expect(nodesRun.toSorted()).toEqual(['coder', 'finalize', 'researcher']);
    for (const { asked } of Object.values(models)) expect(asked[0]).toContain('Sort a list.');
  });

  test('with agents of somebody else, whichever answers first', async () => {
    const after = (ms: number, answer: string): AgentLike => ({
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return { answer, success: true };
      },
      async *stream() {
        await new Promise((resolve) => setTimeout(resolve, ms));
        yield { type: 'answer', metadata: { answer } };
      },
    });
    const slowFirst = await flowOf(after(20, 'found it'), after(0, 'wrote it')).run({ task: 'Sort a list.' });
    const slowSecond = await flowOf(after(0, 'found it'), after(20, 'wrote it')).run({ task: 'Sort a list.' });
    for (const { state } of [slowFirst, slowSecond]) expect(state.final).toBe('found it\nwrote it');
  });
});

describe('15.5 a workflow as a member of a team', () => {
  const inner = graph<{ task: string }>()
    .node('fetch', ({ task }) => `a pattern about ${task}, and another pattern`)
    .node('extract', ({ fetch }) => fetch.match(/pattern/g) ?? [])
    .node('summarize', ({ extract }) => `${extract.length} patterns`)
    .setEntry('fetch')
    .setExit('summarize');

  const lead = scripted([{ tool: 'research_workflow', input: { task: 'looms' } }, 'Looms have 2 patterns.']);
  const team = agentTeam({
    supervisor: agent({ name: 'lead', model: 'toy/lead' }),
    workers: [
      { name: 'research_workflow', agent: inner.asAgent(), description: 'Run the multi-step research pipeline.' },
    ],
  });

  test('the supervisor calls it as a tool, and gets its answer', async () => {
    const { answer, success, steps } = await team.run('Compare looms and mills.', {
      models: { env: {}, providers: { toy: () => lead.model } },
    });
    expect([answer, success]).toEqual(['Looms have 2 patterns.', true]);
    expect(lead.asked[1]).toContain('2 patterns');
    const inside = steps.filter(({ source }) => source === 'research_workflow').map(({ type, node }) => [type, node]);
    expect(inside).toContainEqual(['node_end', 'summarize']);
  });

  test('its task goes to the input that is named, its answer comes from the key that is named', async () => {
    const flow = graph<{ prompt: string }>()
      .node('words', ({ prompt }) => prompt.split(' '))
      .node('count', ({ words }) => words.length)
      .setEntry('words');
    expect((await flow.asAgent({ taskParam: 'prompt' }).run('one two')).answer).toBe('2');
    const words = await flow.asAgent({ taskParam: 'prompt', answerKey: 'words' }).run('one two');
    expect(JSON.parse(words.answer)).toEqual(['one', 'two']);
  });

  test('inside of another graph its steps are told with their source and parent', async () => {
    const outer = graph<{ task: string }>().node('research', workflowNode(inner, 'research')).setEntry('research');
    const events: GraphEvent[] = [];
    for await (const event of outer.stream({ task: 'looms' })) events.push(event);
    const started = events.find(({ type, node }) => type === 'node_start' && node === 'research');
    const leaf = events.find(({ type, node }) => type === 'node_end' && node === 'summarize');
    expect(leaf).toMatchObject({ source: 'research', parentEventId: started?.eventId, path: 'research/summarize' });
    expect(events.at(-1)?.metadata['state']).toEqual({ task: 'looms', research: '2 patterns' });
  });
});
