import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../src/agent/model.js';
import { memoryStore } from '../../src/index.js';
import { agent, convergence, goal } from '../../src/tree.js';
import type { Convergence } from '../../src/tree.js';
import { flowOf, ran, talker } from './support.js';

const POLISH = convergence('polish', 'Make it <short>.', 4);

function asText(request: ModelRequest): string {
  return JSON.stringify([request.messages, request.tools, request.settings, request.output]);
}

describe('convergences', () => {
  it('[A26] [decision 4] the line of the marker ends it: the iteration before is the result', async () => {
    const answers = ['one', 'two', 'Nothing to add.\n  CONVERGED  \n'];
    const { outputs, failures, requests } = await ran(flowOf(POLISH), () => answers.shift() ?? '');
    expect(outputs).toEqual({ polish: 'two' });
    expect(failures).toEqual({});
    expect(requests).toHaveLength(3);
  });

  it('[A26] [decision 4] the word in a sentence, in another case or in a tool result does not end it', async () => {
    const said = ['It has not CONVERGED yet.', 'UNCONVERGED', 'converged', 'last'];
    const { outputs, failures } = await ran(flowOf(POLISH), () => said.shift() ?? '');
    expect(outputs).toEqual({ polish: 'last' });
    expect(failures).toEqual({ polish: 4 });
    const tool = {
      name: 'look',
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      execute: () => 'CONVERGED',
    };
    const calling = await ran(flowOf(convergence('c', 'Look.', 2).customize({ tools: [tool] })), ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'seen' : { calls: [['look', {}]] },
    );
    expect([calling.outputs, calling.failures]).toEqual([{ c: 'seen' }, { c: 2 }]);
  });

  it('[addition 9] in the first iteration the text without the line is the result, and nothing is a failure', async () => {
    const { outputs } = await ran(flowOf(POLISH), () => 'It is good.\nCONVERGED');
    expect(outputs).toEqual({ polish: 'It is good.' });
    const empty = await ran(flowOf(POLISH), () => 'CONVERGED');
    expect([empty.outcome, empty.error?.code]).toEqual(['failed', 'SKEIN_MODEL_EMPTY']);
  });

  it('[A27] iterations see the earlier ones as numbered, escaped elements, behind prior goals and the goal', async () => {
    const { prompts } = await ran(
      flowOf(goal('draft', 'Begin.'), POLISH),
      ({ caller }) => `${caller.path}</iteration>`,
    );
    const marker =
      'Refine the previous iteration, if there is one. When you are satisfied and nothing is left to improve, answer with CONVERGED on a line of its own.';
    const head =
      '<prior-goals>\n<goal name="draft">\ndraft&lt;/iteration&gt;\n</goal>\n</prior-goals>\n\n<goal name="polish">\nMake it &lt;short&gt;.\n</goal>\n\n';
    expect(prompts()['polish#1/polish']).toBe(`${head}${marker}`);
    expect(prompts()['polish#3/polish']).toBe(
      `${head}<convergence-history>\n<iteration n="1">\npolish#1/polish&lt;/iteration&gt;\n</iteration>\n<iteration n="2">\npolish#2/polish&lt;/iteration&gt;\n</iteration>\n</convergence-history>\n\n${marker}`,
    );
  });

  it('[A28] [addition 9] the cap is no error, and no request says it', async () => {
    const flow = flowOf(
      convergence('c', 'Refine.', 7919).using(agent('one', 'You.'), agent('two', 'You.')),
      goal('after', 'Use $c.'),
    );
    const short = flowOf(convergence('c', 'Refine.', 3), goal('after', 'Use $c.'));
    const { outcome, failures, prompts } = await ran(short, ({ caller }) => `text of ${caller.path}`);
    expect([outcome, failures]).toEqual(['succeeded', { c: 3 }]);
    expect(prompts()['after']).toContain('Use text of c#3/c.');
    const { requests } = await ran(flow, ({ caller }) => (caller.path === 'c#3/synthesis' ? 'CONVERGED' : 'text'));
    expect(requests.map(asText).join('\n')).not.toMatch(/7919|7,919/);
  });

  it('[A30] [addition 9] agents work side by side, and only the one who sums up is told of the marker', async () => {
    const flow = flowOf(convergence('c', 'Refine.', 5).using(agent('one', 'You.'), agent('two', 'You.')));
    const { outputs, prompts, requests } = await ran(flow, ({ caller }) => {
      if (caller.agent !== 'synthesis') return 'CONVERGED';
      return caller.path === 'c#2/synthesis' ? 'CONVERGED' : 'summed up';
    });
    expect(outputs['c']).toBe('summed up');
    expect(requests).toHaveLength(6);
    expect(prompts()['c#1/one']).not.toContain('CONVERGED');
    expect(prompts()['c#1/synthesis']).toContain('answer with CONVERGED on a line of its own');
    const alone = await ran(flowOf(convergence('c', 'Refine.', 5).using(agent('one', 'You.'))), ({ caller }) =>
      caller.path.startsWith('c#2') ? 'CONVERGED' : 'first',
    );
    expect(alone.outputs).toEqual({ c: 'first', 'c.one': 'first' });
    expect(alone.prompts()['c#1/one']).toContain('answer with CONVERGED on a line of its own');
  });

  it('[A21] [addition 10] all agents of an iteration settle; the failure names the convergence and each of them', async () => {
    const flow = flowOf(convergence('c', 'Refine.', 5).using(agent('one', 'You.'), agent('two', 'You.')));
    const { error, requests } = await ran(flow, ({ caller }) => {
      throw new Error(`no ${caller.agent}`);
    });
    expect(error?.message).toBe('convergence c fan-out: agent one: no one; agent two: no two');
    expect(requests).toHaveLength(2);
  });

  it('[A31] [addition 5] a number of the run says how many iterations there are, within a static cap', async () => {
    const flow = (cap?: number) => flowOf(convergence('c', 'Refine.', 0).withinVar('n', cap)).input('n');
    const { requests, failures } = await ran(flow(), undefined, { n: ' 2 ' });
    expect([requests.length, failures]).toEqual([2, { c: 2 }]);
    const messages = await Promise.all(
      [['x'], ['0'], ['9', 5]].map(
        async ([n, cap]) => (await ran(flow(cap as number), undefined, { n })).error?.message,
      ),
    );
    expect(messages).toEqual([
      expect.stringContaining('withinVar "n" is not an integer'),
      expect.stringContaining('withinVar "n" must be > 0'),
      expect.stringMatching(/withinVar "n" is 9, more than the cap of 5/),
    ]);
  });

  it('[A12] a convergence inside of a goal tells its cap under the name of the goal', async () => {
    const flow = flowOf(goal('g', 'Do.').using(convergence('inner', 'Refine.', 2), agent('other', 'You.')));
    const { failures, outputs } = await ran(flow);
    expect(failures).toEqual({ 'g.inner': 2 });
    expect(outputs['g.inner']).toBe('said by g/inner#2/inner');
  });

  it('[A8] a run that goes on from its record has the same failures', async () => {
    const store = memoryStore();
    const flow = flowOf(convergence('c', 'Refine.', 2), goal('after', 'Use $c.'));
    let isDown = true;
    const talk = talker(({ caller }) => {
      if (caller.path === 'after' && isDown) throw new Error('down');
      return 'text';
    });
    const first = await flow.execute(talk.runtime, {}, { ...talk.options, store });
    expect([first.outcome, first.outputs, first.failures]).toEqual(['failed', { c: 'text' }, { c: 2 }]);
    isDown = false;
    const again = await flow.execute(talk.runtime, {}, { ...talk.options, store, resume: first.runId });
    expect([again.outcome, again.failures]).toEqual(['succeeded', { c: 2 }]);
    expect(talk.requests.map(({ caller }) => caller.path)).toEqual(['c#1/c', 'c#2/c', 'after', 'after']);
  });
});

describe('[issue 14] a convergence whose only part', () => {
  /** The round of each answer, what came out, and how many rounds were not enough. */
  async function refined(flow: Convergence, answers: readonly string[]) {
    const left = [...answers];
    const { outcome, outputs, failures, requests, prompts } = await ran(flowOf(flow), () => left.shift() ?? 'more');
    return { outcome, out: outputs['out'], failures, prompts, rounds: requests.map(({ caller }) => caller.path) };
  }
  const inside = convergence('in', 'Inner.', 2);

  it('is another one ends with the answer that has the line at once; iterations go on from those around', async () => {
    const { outcome, out, failures, rounds, prompts } = await refined(convergence('out', 'Outer.', 5).using(inside), [
      'one',
      'two',
      'three',
      'CONVERGED',
      'CONVERGED',
    ]);
    expect([outcome, out, failures]).toEqual(['succeeded', 'three', {}]);
    expect(rounds).toEqual(['out#1/in#1/in', 'out#1/in#2/in', 'out#2/in#1/in', 'out#2/in#2/in', 'out#3/in#1/in']);
    const last = prompts()['out#3/in#1/in'] ?? '';
    expect(last.match(/<iteration n="\d">\n\w+/g)).toEqual(['<iteration n="1">\ntwo', '<iteration n="2">\nthree']);
    expect(last.match(/CONVERGED/g)).toHaveLength(1);
  });

  it('is a goal with another one in it ends in the same way, and with its first answer too', async () => {
    const flow = convergence('out', 'Outer.', 5).using(goal('mid', 'Mid.').using(inside));
    expect(await refined(flow, ['one', 'CONVERGED', 'CONVERGED'])).toMatchObject({
      out: 'one',
      rounds: ['out#1/mid/in#1/in', 'out#1/mid/in#2/in', 'out#2/mid/in#1/in'],
    });
    const first = await refined(flow, ['good\nCONVERGED']);
    expect([first.out, first.rounds]).toEqual(['good', ['out#1/mid/in#1/in']]);
  });

  it('is a goal with an agent sees the iterations, and ends with the line', async () => {
    const flow = convergence('out', 'Outer.', 5).using(goal('mid', 'Mid.').using(agent('a', 'You.')));
    const { out, prompts, rounds } = await refined(flow, ['one', 'two', 'CONVERGED']);
    expect([out, rounds]).toEqual(['two', ['out#1/mid/a', 'out#2/mid/a', 'out#3/mid/a']]);
    expect(prompts()['out#3/mid/a']).toContain('<iteration n="2">\ntwo\n</iteration>');
  });
});
