import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore, readRun } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { ownModels, promptOf } from './support-agents.js';

/** An agent whose model is down once, when it is asked about `bad`. */
function world() {
  let isDown = true;
  const { models } = ownModels({
    m: (request) => {
      if (promptOf(request) !== 'bad' || !isDown) return `${promptOf(request)}!`;
      isDown = false;
      throw new Error('down');
    },
  });
  return { models, plain: agent({ name: 'plain', model: 'own/m' }) };
}

type World = ReturnType<typeof world>;
interface Step {
  readonly runOptions: object;
  ask(question: { readonly text: string }): Promise<string>;
}

const bad = async ({ plain }: World, step: Step): Promise<string> => {
  const { success, answer } = await plain.run('bad', step.runOptions);
  if (!success) throw new Error('down');
  return answer;
};

const asking = graph().node('sure', async (_state, step) => await step.ask({ text: 'Sure?' }), { inputs: [] });

/** Something asks while something else fails. */
const FLOWS = {
  'a function': (its: World) =>
    graph().node(
      't',
      async (_state, step) => (await Promise.all([step.ask({ text: 'Sure?' }), bad(its, step)])).join(),
      { inputs: [] },
    ),
  'a run in a function': (its: World) =>
    graph().node(
      't',
      async (_state, step) => {
        const asked = asking.runOrThrow({}, step.runOptions).then(({ sure }) => String(sure));
        return (await Promise.all([asked, bad(its, step)])).join();
      },
      { inputs: [] },
    ),
  'an item of a list': (its: World) =>
    graph()
      .node('items', () => ['ask', 'bad'], { inputs: [] })
      .map('each', { over: 'items', item: 'item' }, async ({ item }, step) =>
        item === 'ask' ? await step.ask({ text: 'Sure?' }) : await bad(its, step),
      )
      .node('t', ({ each }) => each.join()),
  'nodes side by side': ({ plain }: World) =>
    graph<{ word: string }>()
      .node('sure', async (_state, step) => await step.ask({ text: 'Sure?' }), { inputs: [] })
      .node('said', agentNode(plain, { taskParam: 'word' }))
      .node('t', ({ sure, said }) => `${sure},${said}`),
};

describe.each(Object.entries(FLOWS))(
  'a question that was open when something beside it failed: %s',
  (_name, flowOf) => {
    it('can be answered once a resume asks it again', async () => {
      const its = world();
      const flow = flowOf(its) as ReturnType<(typeof FLOWS)['nodes side by side']>;
      const store = memoryStore();
      const first = await flow.run({ word: 'bad' }, { store, models: its.models });
      expect(first.outcome).toBe('failed');
      const { runId } = first;
      const second = await flow.run({}, { store, models: its.models, resume: runId });
      expect([second.outcome, second.questions.length]).toEqual(['paused', 1]);
      expect(readRun(store, runId).questions.map(({ key }) => key)).toEqual(second.questions.map(({ key }) => key));
      answerRun(store, runId, { value: 'yes' });
      const { state } = await flow.run({}, { store, models: its.models, resume: runId });
      expect(state['t']).toBe('yes,bad!');
    });
  },
);

it('a question inside a list that has failed since is not among those that a paused run waits for', async () => {
  const flow = graph()
    .node('items', () => ['Sure?', 'Bad?'], { inputs: [] })
    .map('each', { over: 'items', item: 'item', onError: 'ignore' }, async ({ item }, step) => {
      const said = await step.ask({ text: item });
      if (item === 'Bad?') throw new Error('down');
      return said;
    })
    .node('last', async (_state, step) => await step.ask({ text: 'Really?' }), { inputs: ['each'] });
  const store = memoryStore();
  const first = await flow.run({}, { store, concurrency: 1 });
  const asked = first.questions.find(({ question }) => question === 'Bad?');
  const { runId } = first;
  answerRun(store, runId, { key: asked?.key ?? '', value: 'yes' });
  const { outcome, questions } = await flow.run({}, { store, resume: runId, concurrency: 1 });
  expect([outcome, questions.map(({ key }) => key)]).toEqual(['paused', ['last@ask:1']]);
  expect(readRun(store, runId).questions.map(({ key }) => key)).toEqual(questions.map(({ key }) => key));
  answerRun(store, runId, { value: 'yes' });
  const end = await flow.run({}, { store, resume: runId });
  expect([end.outcome, end.questions, end.state['last']]).toEqual(['degraded', [], 'yes']);
});
