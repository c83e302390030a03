import { expect, it } from 'vitest';
import { z } from 'zod';
import { graph, workflowNode } from '../../src/graph.js';
import type { Graph, GraphSettings } from '../../src/graph.js';

type Loose = Record<string, unknown>;

function open(settings: GraphSettings<Loose> = {}): Graph<Readonly<Loose>> {
  return graph<Loose>(settings)
    .addNode('work', ({ task }) => ({ out: `${String(task)}!` }))
    .setEntry('work');
}

it('[60] a graph whose functions take the whole state gets the task, though it names no inputs', async () => {
  const outer = graph<{ task: string }>()
    .node('part', workflowNode(open({ answerKey: 'out' }), 'part'))
    .setEntry('part');
  expect((await outer.run({ task: 'looms' })).state.part).toBe('looms!');
  expect((await outer.run({})).state.part).toBe('undefined!');
  const renamed = graph<{ question: string }>()
    .node('part', workflowNode(open(), 'part', { taskParam: 'question', answerKey: 'out' }))
    .setEntry('part');
  expect((await renamed.run({ question: 'mills' })).state.part).toBe('mills!');
  expect((await renamed.run({})).error?.code).toBe('SKEIN_INPUT');
});

it('[60] with schemas, the keys of its state are what it may be given', async () => {
  const state = { task: z.string(), out: z.string() };
  const typed = graph({ state, answerKey: 'out' })
    .addNode('work', ({ task }) => ({ out: `${task}!` }))
    .setEntry('work');
  for (const options of [{}, { taskParam: null }]) {
    const outer = graph<{ task: string }>()
      .node('part', workflowNode(typed, 'part', options))
      .setEntry('part');
    expect((await outer.run({ task: 'looms' })).state.part).toBe('looms!');
  }
  const asked = { taskParam: 'question' };
  const renamed = graph<{ question: string }>()
    .node('part', workflowNode(typed, 'part', asked))
    .setEntry('part');
  expect((await renamed.run({ question: 'mills' })).state.part).toBe('mills!');
  const other = graph({ state: { out: z.string() }, answerKey: 'out' })
    .addNode('work', () => ({ out: 'nothing' }))
    .setEntry('work');
  expect(() => workflowNode(other, 'part', asked)).toThrow('the inner workflow has no key "question" for the task');
  const quiet = graph({ state: { part: z.string() } })
    .node('part', workflowNode<string>(other, 'part'))
    .setEntry('part');
  expect((await quiet.run()).state.part).toBe('nothing');
});

it('[60] a graph around it with schemas need not have the task', async () => {
  const outer = graph({ state: { part: z.string() } })
    .node('part', workflowNode<string>(open({ answerKey: 'out' }), 'part'))
    .setEntry('part');
  expect((await outer.run()).state.part).toBe('undefined!');
});

it('[60] what can not be known is asked for: the inputs, the answer', () => {
  expect(() => workflowNode(open({ answerKey: 'out' }), 'part', { taskParam: null })).toThrow(
    "error no-task-input: workflowNode('part'): the inner workflow does not say what it reads",
  );
  const typed = graph({ state: { out: z.string() } })
    .addNode('work', () => ({ out: '' }))
    .setEntry('work');
  expect(() => workflowNode(typed, 'part', { answerKey: 'oot' })).toThrow(
    'say which it is: answerKey: the key of its state; or take all: projectState: true',
  );
});

it('a map over a graph with schemas gives the item to a declared key', async () => {
  const each = graph({ state: { item: z.string(), loud: z.string() }, answerKey: 'loud' })
    .addNode('work', ({ item }) => ({ loud: item.toUpperCase() }))
    .setEntry('work');
  const outer = graph<{ names: string[] }>().map('all', { over: 'names' }, each).setEntry('all');
  expect((await outer.run({ names: ['a', 'b'] })).state.all).toEqual(['A', 'B']);
});
