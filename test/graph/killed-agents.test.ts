import { expect, test } from 'vitest';
import { memoryStore } from 'skein';
import type { Store } from 'skein';
import { agent, agentNode, agentTeam, graph, tool } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels } from './support-agents.js';

/** One process that runs or goes on with a graph with an agent, and what it had to pay for. */
async function processOf(store: Store, resume: boolean) {
  const looked: string[] = [];
  const look = tool({
    name: 'look',
    inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
    effect: 'read',
    execute: ({ what }) => looked.push(String(what)) && `saw ${String(what)}`,
  });
  const { models, requests } = ownModels({
    m: ({ caller }) => (caller.turn < 3 ? { calls: [['look', { what: `thing ${caller.turn}` }]] } : 'done'),
  });
  const flow = graph<{ task: string }>()
    .node('first', ({ task }) => `${task}!`)
    .node('find', agentNode(agent({ name: 'finder', model: 'own/m', tools: [look] }), { taskParam: 'first' }))
    .node('end', ({ find }) => `end: ${find}`)
    .setEntry('first');
  const result = await flow.run(resume ? {} : { task: 'x' }, {
    store,
    models,
    ...(resume ? { resume: 'one' } : { runId: 'one' }),
  });
  return { result, looked, turns: requests.map(({ caller }) => caller.turn) };
}

test('a graph with an agent, killed after any record and resumed, makes no recorded call of a model or a tool again', async () => {
  const whole = memoryStore();
  const undisturbed = await processOf(whole, false);
  expect([undisturbed.turns, undisturbed.looked]).toEqual([
    [1, 2, 3],
    ['thing 1', 'thing 2'],
  ]);
  const prefixes = prefixesOf('one', whole.read('one'));
  const between = new Set<number>();
  for (const { name, batches, lines } of prefixes) {
    const { result, looked, turns } = await processOf(storeWith('one', batches, whole), true);
    expect([name, result.outcome, result.state['end']]).toEqual([name, 'succeeded', 'end: done']);
    const done = (key: string) => lines.some((line) => line.includes('"t":"done"') && line.includes(`"${key}"`));
    expect([name, turns]).toEqual([name, [1, 2, 3].filter((turn) => !done(`find@model#${turn}`))]);
    expect([name, looked]).toEqual([name, ['thing 1', 'thing 2'].filter((_, at) => !done(`find@tool#${at + 1}.1`))]);
    between.add(turns.length);
  }
  // It was killed before the first, between all, and after the last call.
  expect([...between].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
});

test('a team, killed after any record and resumed, gives no work again whose result is recorded', async () => {
  const session = async (store: Store, resume: boolean) => {
    const { models, asked } = ownModels({
      lead: ({ caller }) =>
        caller.turn < 3 ? { calls: [[caller.turn === 1 ? 'search' : 'write', { task: 'go' }]] } : 'done',
      search: () => 'found',
      write: () => 'written',
    });
    const named = (name: string) => agent({ name, model: `own/${name}` });
    const inner = graph<{ task: string }>()
      .node('text', agentNode(named('write')))
      .setEntry('text');
    const team = agentTeam({
      supervisor: named('lead'),
      workers: [
        { name: 'search', description: 'Searches.', agent: named('search') },
        { name: 'write', description: 'Writes.', agent: inner.asAgent() },
      ],
    });
    const result = await team.run('go', { store, models, ...(resume ? { resume: 'one' } : { runId: 'one' }) });
    return { result, asked };
  };
  const whole = memoryStore();
  await session(whole, false);
  for (const { name, batches, lines } of prefixesOf('one', whole.read('one'))) {
    const { result, asked } = await session(storeWith('one', batches, whole), true);
    expect([name, result.success, result.answer]).toEqual([name, true, 'done']);
    const done = (key: string) => lines.some((line) => line.includes('"t":"done"') && line.includes(`"lead@${key}"`));
    const left = (worker: string) => asked.filter((each) => each.startsWith(worker)).length;
    // Calls of the workers are parts of the call that gives them work.
    const called = (call: string) =>
      lines.some(
        (line) => line.includes('"t":"done"') && line.includes(`"lead@${call}.in:`) && line.includes('model#1"'),
      );
    const isLeft = (call: string) => (called(call) ? 0 : 1);
    expect([name, left('search'), left('write')]).toEqual([name, isLeft('tool#1.1'), isLeft('tool#2.1')]);
    if (done('tool#1.1')) expect(called('tool#1.1')).toBe(true);
    expect([name, left('lead')]).toEqual([name, [1, 2, 3].filter((turn) => !done(`model#${turn}`)).length]);
  }
});
