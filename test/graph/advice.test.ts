import { describe, expect, it } from 'vitest';
import { z } from 'zod';
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
    expect(flow.compile().plan.nodes[0]?.retry).toEqual({ retries: 2, backoff: 'exponential', delayMs: 0, on: 'any' });
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
    await expect(flow.runOrThrow()).rejects.toThrow(/nobody can give it/);
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
});
