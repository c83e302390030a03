import { describe, expect, it } from 'vitest';
import { run, memoryStore } from '../../src/index.js';
import { agent, convergence, goal, sequence, workflow } from '../../src/tree.js';
import { flowOf, talker } from './support.js';

describe('a recorded tree', () => {
  it('[addition 10] a goal whose agents failed asks only those again that failed', async () => {
    const store = memoryStore();
    const broken = new Set(['g/one', 'g/three']);
    const talk = talker(({ caller }) => {
      if (broken.has(caller.path)) throw new Error('down');
      return 'text';
    });
    const [one, two, three] = ['one', 'two', 'three'].map((name) => agent(name, 'You.'));
    const flow = flowOf(goal('g', 'Do.').using(one as never, two as never, three as never), goal('after', 'Use $g.'));
    const first = await flow.execute(talk.runtime, {}, { ...talk.options, store });
    expect(first.error?.message).toBe('goal g fan-out: agent one: down; agent three: down');
    broken.clear();
    const asked = talk.requests.length;
    const again = await flow.execute(talk.runtime, {}, { ...talk.options, store, resume: first.runId });
    expect(again.outcome).toBe('succeeded');
    expect(talk.requests.slice(asked).map(({ caller }) => caller.path)).toEqual([
      'g/one',
      'g/three',
      'g/synthesis',
      'after',
    ]);
  });

  it('an edit of one goal runs that goal again, and what reads it', async () => {
    const store = memoryStore();
    const talk = talker();
    const flow = (second: string) => flowOf(goal('a', 'Begin.'), goal('b', second), goal('c', 'Use $b.'));
    const first = await flow('Go on.').execute(talk.runtime, {}, { ...talk.options, store });
    const asked = talk.requests.length;
    const again = await flow('Go on, then.').execute(talk.runtime, {}, { ...talk.options, store, resume: first.runId });
    expect(again.outcome).toBe('succeeded');
    // What b gives is the same as before: c stays.
    expect(talk.requests.slice(asked).map(({ caller }) => caller.path)).toEqual(['b']);
  });

  it('a turn of a thread sees what goals gave in the turn before, and keeps the inputs that are not given', async () => {
    const store = memoryStore();
    const talk = talker(({ caller }) => `${caller.path} ${talk.requests.length}`);
    const flow = flowOf(goal('note', 'Say $word.'), goal('sum', 'Sum up $note.')).input('word');
    const turn = (inputs: Readonly<Record<string, string>>) =>
      flow.execute(talk.runtime, inputs, { ...talk.options, store, thread: 'desk' });
    const missing = await turn({}).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: 'SKEIN_INPUT' });
    expect((await turn({ word: 'one' })).outputs).toEqual({ note: 'note 1', sum: 'sum 2' });
    expect(talk.prompts()['note']).toBe('<goal name="note">\nSay one.\n</goal>');
    const second = await turn({});
    expect([second.outcome, second.outputs]).toEqual(['succeeded', { note: 'note 3', sum: 'sum 4' }]);
    expect(talk.prompts()['note']).toBe(
      '<prior-goals>\n<goal name="note">\nnote 1\n</goal>\n<goal name="sum">\nsum 2\n</goal>\n</prior-goals>\n\n<goal name="note">\nSay one.\n</goal>',
    );
    await turn({ word: 'three' });
    expect(talk.prompts()['note']).toContain('<goal name="sum">\nsum 4\n</goal>');
    expect(talk.prompts()['note']).toContain('Say three.');
  });

  it('a resumed run has the inputs of its record, whatever is given', async () => {
    const store = memoryStore();
    const talk = talker();
    const flow = flowOf(goal('g', 'Say $word.').superviseByHuman()).input('word');
    const supervisor = {
      reconcile: () => ({ triggers: [], escalate: false }),
      supervise: () => ({ verdict: 'halt' as const }),
    };
    const runtime = { ...talk.runtime, supervisor };
    const paused = await flow.execute(runtime, { word: 'one' }, { ...talk.options, store });
    const again = await flow.execute(runtime, undefined, { ...talk.options, store, resume: paused.runId });
    expect([again.outcome, again.inputs]).toEqual(['paused', { word: 'one' }]);
  });

  it('[A13] a signal that is aborted already keeps everything from running; one later ends it with what there is', async () => {
    const talk = talker();
    const flow = flowOf(goal('a', 'Begin.'), goal('b', 'Go on.'));
    const before = await flow.execute(talk.runtime, {}, { ...talk.options, signal: AbortSignal.abort() });
    expect([before.outcome, before.error?.code, talk.requests.length]).toEqual(['cancelled', 'SKEIN_CANCELLED', 0]);
    const stop = new AbortController();
    const stopping = talker(({ caller }) => {
      if (caller.path === 'b') stop.abort();
      return 'text';
    });
    const after = await flow.execute(stopping.runtime, {}, { ...stopping.options, signal: stop.signal });
    expect([after.outcome, after.outputs]).toEqual(['cancelled', { a: 'text' }]);
  });

  it('[addition 4] is a workflow like any other: its plan runs with run of skein', async () => {
    const talk = talker();
    const { plan, bindings, problems } = flowOf(goal('g', 'Say $word.')).input('word').compile(talk.runtime);
    expect(problems).toEqual([]);
    const { outcome, state } = await run({ plan, bindings }, { inputs: { word: 'hi' }, ...talk.options }).result;
    expect([outcome, state]).toEqual(['succeeded', { g: 'said by g' }]);
  });

  it('[A35] tool servers add their tools to those that are named', () => {
    const mcp = { files: { command: 'files-server' } };
    const flow = flowOf(goal('g', 'Do.'), goal('h', 'Do.').customize({ mcp: {}, tools: ['read_file'] }));
    const { plan } = flow.compile({ model: 'mock/echo', mcp });
    const agents = plan?.nodes.map((node) => (node.kind === 'agent' ? [node.agent.tools, node.agent.mcpServers] : []));
    expect(agents).toEqual([
      [['files/*'], mcp],
      [['read_file'], undefined],
    ]);
  });

  it('sequences run one after the other, and a failure ends all', async () => {
    const talk = talker(({ caller }) => {
      if (caller.path === 'b') throw new Error('down');
      return 'text';
    });
    const flow = workflow('f').add(
      sequence('one').steps(goal('a', 'Do.'), goal('b', 'Use $a.')),
      sequence('two').steps(convergence('c', 'Do.', 2)),
    );
    const result = await flow.execute(talk.runtime, {}, talk.options);
    expect([result.outcome, result.outputs, result.census.notRun]).toEqual(['failed', { a: 'text' }, 1]);
    await expect(flow.executeOrThrow(talk.runtime, {}, talk.options)).rejects.toThrow('down');
  });
});
