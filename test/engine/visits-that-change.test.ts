import { describe, expect, test } from 'vitest';
import type { Executor } from '../../src/engine/ports/executor.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { AgentNode, Plan } from '../../src/plan/plan.js';
import { plan, task } from './plans.js';

const agent = (id: string): AgentNode => ({
  kind: 'agent',
  id,
  agent: { name: id, instructions: [], models: [] },
  prompt: ['Go on.'],
  output: id,
});

/** The agent `before` runs once, `draft` until the route has enough of it. */
const looped: Plan = plan({
  nodes: [agent('before'), agent('draft'), task('count', { writes: [] })],
  edges: ['before>draft', 'draft>count'],
  routes: [{ from: 'count', choose: 'code', targets: ['draft', 'END'] }],
  entry: 'before',
});

async function told(texts: readonly unknown[]): Promise<readonly unknown[]> {
  let visits = 0;
  let rounds = 0;
  const notes: unknown[] = [];
  const answer: Executor<AgentNode> = (node) => {
    const text = node.id === 'draft' ? texts[visits++] : 'once';
    return Promise.resolve({ type: 'done', output: text });
  };
  const listen = (event: SkeinEvent): void => {
    if (event.type === 'step.note') notes.push([event.path, event.note]);
  };
  const bindings = { count: () => ({}), 'route:count': () => ((rounds += 1) < texts.length ? 'draft' : 'END') };
  const run = startRun(looped, { bindings, executors: { agent: answer }, listeners: [listen] });
  expect((await run.result).outcome).toBe('succeeded');
  return notes;
}

describe('[issue 14] an agent that ways lead back to', () => {
  test('tells from its second visit on how much of its text is new, and what it repeats', async () => {
    expect(await told(['a', 'a\nb', 'a', 'a\nb', 'a\nb'])).toEqual([
      ['draft#2', { kind: 'loop.round', round: 2, change: 0.5 }],
      ['draft#3', { kind: 'loop.round', round: 3, change: 0 }],
      ['draft#4', { kind: 'loop.round', round: 4, change: 0.5 }],
      ['draft#4', { kind: 'loop.oscillating', round: 4 }],
      ['draft#5', { kind: 'loop.round', round: 5, change: 0 }],
      ['draft#5', { kind: 'loop.repeated', round: 5 }],
    ]);
  });

  test('tells nothing of what is not a text', async () => {
    expect(await told([{ a: 1 }, { a: 1 }])).toEqual([]);
  });
});
