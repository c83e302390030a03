import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { END, endNode, graph, workflowNode, type RunEnd } from 'skein/graph';

type State = RunEnd & { readonly text: string; readonly swept?: string };

/** A graph of functions that name what they read, and what its last node was told. */
function sweeping(work: (text: string) => string) {
  const told: unknown[] = [];
  const flow = graph<State>({ finally: 'sweep' })
    .node('draft', ({ text }) => work(text))
    .node('sweep', ({ draft, 'run.outcome': outcome, 'run.error': error }) => {
      told.push([outcome, error?.message, draft]);
    });
  return { flow, told };
}

const broken = (): string => {
  throw new Error('broken');
};

describe('[addition 10] the option finally of a graph', () => {
  it('names a node that runs when all others have ended, well or not, and is told how', async () => {
    const good = sweeping((text) => `About ${text}.`);
    const result = await good.flow.run({ text: 'looms' });
    expect([result.outcome, good.told]).toEqual(['succeeded', [['succeeded', undefined, 'About looms.']]]);
    expect([result.answer, result.answerKey, result.nodesRun]).toEqual(['About looms.', 'draft', ['draft', 'sweep']]);
    expect(Object.keys(result.state)).toEqual(['text', 'draft']);
    const bad = sweeping(broken);
    const failed = await bad.flow.run({ text: 'looms' });
    expect([failed.outcome, failed.error?.message, bad.told]).toEqual([
      'failed',
      'broken',
      [['failed', 'broken', undefined]],
    ]);
  });

  it('takes nodes that get the whole state, also where it has schemas, and after an end that was meant', async () => {
    const told: unknown[] = [];
    const text = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
    const flow = graph({ state: { text }, finally: 'sweep' })
      .addNode('work', () => ({ text: 'done' }))
      .addNode('stop', endNode({ status: 'failed', reason: 'enough' }))
      .addNode('sweep', (state: RunEnd & { readonly text?: unknown }) => {
        told.push([state['run.outcome'], state['run.error']?.code, state.text]);
      })
      .addEdge('work', 'stop')
      .setEntry('work');
    expect((await flow.run({})).error?.message).toBe('enough');
    expect(told).toEqual([['failed', 'SKEIN_ENDED', 'done']]);
  });

  it('degrades a run that succeeded when it fails, and changes no other outcome', async () => {
    const outcomeOf = async (work: () => string) =>
      await graph<RunEnd>({ finally: 'sweep' }).node('work', work).node('sweep', broken).run();
    expect((await outcomeOf(() => 'done')).outcome).toBe('degraded');
    expect((await outcomeOf(() => 'done')).state).toEqual({ work: 'done' });
    const bad = await outcomeOf(() => {
      throw new Error('first');
    });
    expect([bad.outcome, bad.error?.message]).toEqual(['failed', 'first']);
  });

  it('of a graph inside of another one runs at the end of that one', async () => {
    const { flow, told } = sweeping((text) => text.toUpperCase());
    const outer = graph<{ text: string }>()
      .node('inner', workflowNode(flow, 'sweeping'))
      .node('after', ({ inner }) => {
        told.push('after');
        return inner;
      });
    expect((await outer.run({ text: 'looms' })).state.after).toBe('LOOMS');
    expect(told).toEqual([['succeeded', undefined, 'LOOMS'], 'after']);
  });

  it('is not run again for a recorded run that is over, and runs again at the end of one that is resumed', async () => {
    const store = memoryStore();
    let isBroken = true;
    const { flow, told } = sweeping((text) => (isBroken ? broken() : text));
    const first = await flow.run({ text: 'looms' }, { store });
    isBroken = false;
    for (let round = 0; round < 2; round++) await flow.run({}, { store, resume: first.runId });
    expect(told).toEqual([
      ['failed', 'broken', undefined],
      ['succeeded', undefined, 'looms'],
    ]);
  });

  it('is not run again for a run that is degraded only because a loop came to its limit: nothing is tried again', async () => {
    const store = memoryStore();
    const told: unknown[] = [];
    const flow = graph<RunEnd>({ finally: 'sweep' })
      .addNode('work', () => undefined, { maxVisits: 2, onMaxVisits: { to: END, degraded: true } })
      .addNode('again', () => undefined)
      .addNode('sweep', ({ 'run.outcome': outcome }) => {
        told.push(outcome);
      })
      .addEdge('work', 'again')
      .addConditionalEdge('again', () => 'work', { work: 'work' })
      .setEntry('work');
    const { runId, outcome } = await flow.run({}, { store });
    const again = await flow.run({}, { store, resume: runId });
    expect([outcome, again.outcome, told]).toEqual(['degraded', 'degraded', ['degraded']]);
    await flow.run({}, { store, fork: { run: runId } });
    expect(told).toEqual(['degraded', 'degraded']);
  });

  it('is drawn, listed last, and no exit', () => {
    const { flow } = sweeping((text) => text);
    expect(flow.dryRun({ text: 'x' })).toMatchObject({ levels: [['draft'], ['sweep']], exits: ['draft'] });
    expect(flow.dryRun().inputsRequired).toEqual(['text']);
    expect(flow.toMermaid()).toContain('when all others have ended');
  });

  it('[bad-finally], [unknown-node] are reported, and what is not a name is refused', () => {
    const codes = (last: string, edges: readonly (readonly [string, string])[] = []) => {
      const flow = graph({ finally: last })
        .node('a', () => 1)
        .node('b', () => 2);
      for (const [from, to] of edges) flow.addEdge(from, to);
      try {
        flow.compile();
        return [];
      } catch (error) {
        return (error as { details: { problems: { code: string }[] } }).details.problems.map(({ code }) => code);
      }
    };
    expect(codes('b')).toEqual([]);
    expect(codes('b', [['a', 'b']])).toEqual(['bad-finally']);
    expect(codes('b', [['b', 'a']])).toContain('bad-finally');
    expect(codes('c')).toEqual(['unknown-node']);
    const handled = (last: 'a' | 'b') =>
      graph({ finally: last })
        .node('a', () => 1, { onError: { to: 'b' } })
        .node('b', () => 2)
        .node('c', () => 3);
    expect(() => handled('b').compile()).toThrow('and a failure is handled by it');
    expect(() => handled('a').compile()).toThrow('and another node takes over for it');
    expect(() => graph({ finally: (() => 1) as never })).toThrow('the option "finally" is the name of a node');
  });
});
