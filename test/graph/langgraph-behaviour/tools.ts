import { answerRun, memoryStore } from 'skein';
import { agent, agentNode, graph, tool, toolNode } from 'skein/graph';
import type { ToolStep } from 'skein/graph';
import { z } from 'zod';
import { ownModels, resultsIn } from '../support-agents.js';
import type { Behaviour } from './behaviour.js';

/** A clerk who calls the tool `stamp` once, and then repeats its result. */
const clerkWith = (execute: (input: { text: string }, io: ToolStep<{ office: string }>) => unknown, input: object) => {
  const own = ownModels({
    clerk(request) {
      const [result] = resultsIn(request);
      return result === undefined ? { calls: [['stamp', input]] } : `told: ${result}`;
    },
  });
  const stamp = tool({ name: 'stamp', inputSchema: z.object({ text: z.string() }), effect: 'read', execute });
  const clerk = agent({ name: 'clerk', model: 'own/clerk', tools: [stamp] });
  const desk = graph<{ task: string; office: string }>()
    .node('desk', agentNode(clerk), { output: 'desk' as never })
    .setEntry('desk');
  return { desk, own };
};

export const TOOLS: readonly Behaviour[] = [
  {
    feature: 'interrupt in tools',
    from: 'prebuilt/tool_node.test.ts: an interrupt in a tool is raised',
    what: 'a question in a tool pauses the run; the model is told nothing, and is not asked again',
    verdict: 'same',
    async run() {
      const { desk, own } = clerkWith(async ({ text }, io) => `${text}: ${await io.ask({ text: `Stamp ${text}?` })}`, {
        text: 'form 7',
      });
      const options = { store: memoryStore(), models: own.models };
      const { runId, outcome, questions } = await desk.run({ task: 'work', office: 'north' }, options);
      const asked = own.asked.length;
      answerRun(options.store, runId, { value: 'with red ink' });
      const { answer } = await desk.run({}, { ...options, resume: runId });
      return [outcome, questions.map(({ question }) => question), asked, own.asked.length, answer];
    },
    gives: ['paused', ['Stamp form 7?'], 1, 2, 'told: form 7: with red ink'],
  },
  {
    feature: 'interrupt in tools',
    from: 'concurrent-thread-isolation.test.ts: a tool that reads the state of its graph',
    what: 'a tool sees the state, which the model does not have to repeat',
    verdict: 'same',
    async run() {
      const { desk, own } = clerkWith(({ text }, io) => `${text} in ${io.state.office}`, { text: 'form 7' });
      return (await desk.run({ task: 'work', office: 'north' }, { models: own.models })).answer;
    },
    gives: 'told: form 7 in north',
  },
  {
    feature: 'interrupt in tools',
    from: 'prebuilt/tool_node.test.ts: errors of tools are handled by default',
    what: 'what a tool throws is told to the model',
    verdict: 'same',
    async run() {
      const { desk, own } = clerkWith(
        () => {
          throw new Error('no ink');
        },
        { text: 'form 7' },
      );
      const { outcome, answer } = await desk.run({ task: 'work', office: 'north' }, { models: own.models });
      return [outcome, answer.includes('no ink')];
    },
    gives: ['succeeded', true],
  },
  {
    feature: 'interrupt in tools',
    from: 'prebuilt/tool_node.test.ts: parameters of a call that are not valid',
    what: 'a call with an input that does not fit',
    verdict: { differs: 'the model is told what is wrong, and may call again; the tool does not run' },
    async run() {
      let calls = 0;
      const { desk, own } = clerkWith(() => (calls += 1), { texts: 7 });
      const { outcome, answer } = await desk.run({ task: 'work', office: 'north' }, { models: own.models });
      return [outcome, answer, calls];
    },
    gives: ['succeeded', 'told: Error: stamp: unknown argument "texts" (it takes text)', 0],
  },
  {
    feature: 'interrupt in tools',
    from: 'prebuilt/tool_node.test.ts: errors that are not to be handled',
    what: 'a tool that is a node of its own, and throws',
    verdict: { differs: 'it fails as a node does, and has the policies of a node' },
    async run() {
      const press = tool({
        name: 'press',
        inputSchema: z.object({ text: z.string() }),
        execute(): string {
          throw new Error('no ink');
        },
      });
      const desk = graph<{ text: string; done: string }>()
        .node('done', toolNode(press), { onError: { to: 'instead' } })
        .addNode('instead', ({ text }) => ({ done: `${text} by hand` }))
        .setEntry('done');
      const { outcome, state } = await desk.run({ text: 'form 7' });
      return [outcome, state.done];
    },
    gives: ['degraded', 'form 7 by hand'],
  },
  {
    feature: 'interrupt in tools',
    from: 'prebuilt/tool_node.test.ts: tools that return commands',
    what: 'a tool that says where the graph goes on',
    verdict: {
      differs: 'it says so in its result, by which a route chooses: where a graph may go stands in the graph',
    },
    async run() {
      const triage = tool({
        name: 'triage',
        inputSchema: z.object({ text: z.string() }),
        effect: 'read',
        execute: ({ text }) => (text.endsWith('!') ? 'now' : 'later'),
      });
      const desk = graph<{ text: string }>()
        .node('urgency', toolNode(triage))
        .node('call', ({ text }) => `called about ${text}`)
        .node('file', ({ text }) => `filed ${text}`)
        .route('urgency', ({ urgency }) => urgency, { map: { now: 'call', later: 'file' } })
        .setEntry('urgency');
      return [(await desk.run({ text: 'fire!' })).answer, (await desk.run({ text: 'tax' })).answer];
    },
    gives: ['called about fire!', 'filed tax'],
  },
];
