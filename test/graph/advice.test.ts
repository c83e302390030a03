import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { definePlan, END, memoryStore, run, runOrThrow, runWorkflow, streamRun } from '../../src/index.js';
import type { Workflow } from '../../src/index.js';
import { agent, graph, tool, toolNode } from '../../src/graph.js';

type Loose = Record<string, unknown>;

describe('what used to be ignored', () => {
  it('[XG14] a retry policy that says only what differs', async () => {
    let calls = 0;
    const flow = graph<Loose>().node(
      'a',
      () => {
        calls += 1;
        if (calls < 3) throw new Error('busy');
        return calls;
      },
      { retry: { delayMs: 0 } },
    );
    expect((await flow.run()).state['a']).toBe(3);
    expect(flow.compile().plan.nodes[0]?.retry).toEqual({ retries: 2, backoff: 'exponential', delayMs: 0 });
  });

  it('[XG14] what a node returns is frozen in place', async () => {
    const kept: string[] = ['a'];
    const flow = graph<Loose>().node('a', () => kept);
    await flow.run();
    expect(Object.isFrozen(kept)).toBe(true);
  });

  it('[XG14] a question that nobody can ever answer says so', async () => {
    const flow = graph<Loose>().node('a', (_, step) => step.ask({ text: 'Go on?' }), { inputs: [] });
    const { outcome, error } = await flow.run();
    expect([outcome, error?.code]).toEqual(['paused', 'SKEIN_QUESTION']);
    expect(error?.hint).toContain('`answer` function, or a `store`');
    await expect(flow.runOrThrow()).rejects.toThrow(/no one can answer/);
  });

  it('[XG14] an option of a run that does not exist', async () => {
    const flow = graph<Loose>().node('a', () => 1);
    await expect(flow.run({}, { resumes: 'r' } as object)).rejects.toMatchObject({
      code: 'SKEIN_USAGE',
      hint: 'did you mean "resume"?',
    });
  });

  it('[XG14] a schema in place of options', () => {
    expect(() => graph(z.object({ a: z.string() }) as object)).toThrow(/takes options, not a schema/);
  });

  it('[XG14] defaults of schemas are applied to what is not given', async () => {
    const flow = graph({
      state: { topic: z.string().default('looms'), log: z.array(z.string()).default([]), n: z.number() },
    })
      .addNode('a', ({ topic, log }) => ({ n: topic.length + log.length }))
      .setEntry('a');
    expect((await flow.run()).state).toEqual({ topic: 'looms', log: [], n: 5 });
    expect((await flow.run({ topic: 'x', log: ['y'] })).state.n).toBe(2);
    const needed = graph({ inputs: ['topic'], state: { topic: z.string().default('looms') } })
      .addNode('a', () => null)
      .setEntry('a');
    expect((await needed.run()).state).toEqual({ topic: 'looms' });
  });

  it('[XG14] an input that a node of its name would overwrite', () => {
    const flow = graph<{ a: number }>({ inputs: ['a'] }).node('a', () => 1);
    expect(() => flow.compile()).toThrow(/overwritten-input: the input "a"[^]*rename one of the two/);
    expect(() =>
      graph<{ a: number }>({ inputs: ['a'] })
        .node('a', ({ a }) => a + 1)
        .compile(),
    ).not.toThrow();
  });

  it('[XG14] the schema of a tool under another name than `inputSchema`', () => {
    const named = { name: 'add', input: { type: 'object' }, execute: () => 1 } as never;
    for (const use of [() => tool(named), () => toolNode(named), () => agent({ name: 'a', tools: [named] })]) {
      expect(use).toThrow(/the tool "add" has no option "input"[^]*did you mean "inputSchema"\?/);
    }
  });

  it('[XG14] a value that is passed under the name of a node', async () => {
    const flow = graph<Loose>()
      .node('a', () => 1)
      .node('b', ({ a }) => a);
    const refused = { code: 'SKEIN_INPUT', hint: 'rename one of the two, or let the node read it' };
    expect((await flow.run({ a: 2 })).error).toMatchObject(refused);
    expect(() => run(flow.compile(), { inputs: { b: 2 } })).toThrow(/'b' has the name of a node that does not read it/);
    const workflow = { ...flow.compile(), settings: {} } as unknown as Workflow;
    await expect(runWorkflow(workflow, { inputs: { a: 2 } })).rejects.toMatchObject(refused);
    expect((await flow.run({ c: 2 })).state).toEqual({ a: 1, b: 1, c: 2 });
  });

  it('[XG14] but not one that somebody reads before the node gives its own', async () => {
    const again = graph<{ a: number }>().node('a', ({ a }) => a + 1);
    expect((await again.run({ a: 1 })).state.a).toBe(2);
    const looped = graph<Loose>()
      .node('draft', ({ review = 'none' }) => `after ${String(review)}`)
      .node('review', ({ draft }) => draft)
      .route('review', () => END, { targets: ['draft', END] })
      .setEntry('draft');
    expect((await looped.run({ review: 'notes' })).state['draft']).toBe('after notes');
    const fallback = graph<Loose>().node('a', (): unknown => Promise.reject(new Error('x')), { onError: 'continue' });
    expect((await fallback.run({ a: 'kept' })).state['a']).toBe('kept');
  });

  it('[XG14] options of runs of the main library', async () => {
    const plan = definePlan({ name: 'p', nodes: [{ id: 'a', run: () => ({}) }] });
    const typo = { input: {} } as object;
    const refused = { code: 'SKEIN_USAGE', hint: 'did you mean "inputs"?' };
    expect(() => run(plan, typo)).toThrow(/a run has no option "input"/);
    await expect(runOrThrow(plan, typo)).rejects.toMatchObject(refused);
    await expect(streamRun(plan, typo).next()).rejects.toMatchObject(refused);
    const workflow = { ...plan, settings: {} } as unknown as Workflow;
    await expect(runWorkflow(workflow, typo)).rejects.toMatchObject(refused);
    await expect(runWorkflow(workflow, { audits: false } as object)).rejects.toMatchObject({
      hint: 'did you mean "audit"?',
    });
  });

  it('[XG14] a question in a run of the main library that nobody can ever answer', async () => {
    const plan = definePlan({ name: 'p', nodes: [{ id: 'ok', kind: 'ask', question: 'Go on?' }] });
    const told = { outcome: 'paused', error: { code: 'SKEIN_QUESTION' } };
    expect(await run(plan).result).toMatchObject(told);
    await expect(runOrThrow(plan)).rejects.toThrow(/no one can answer/);
    const workflow = { ...plan, settings: {} } as unknown as Workflow;
    expect(await (await runWorkflow(workflow)).result).toMatchObject(told);
    expect((await run(plan, { store: memoryStore() }).result).error).toBeUndefined();
  });
});
