import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { agent, convergence, goal, sequence, workflow } from '../../src/tree.js';
import { flowOf, ran, talker } from './support.js';

const REQUEST = '\n\nAnswer with one JSON object that has exactly these fields: ';
const CHOSEN = 'Here it is: {"chosen": ["a", 1], "why": "short", "extra": true} That is all.';

describe('structured outputs', () => {
  it('[A18] [A23] a goal is asked for its fields; each is a value of its own, text as it is and the rest as JSON', async () => {
    const flow = flowOf(goal('pick', 'Pick.').withOutputs('chosen', 'why'), goal('write', 'Write $chosen, $why.'));
    const { outputs, prompts, census } = await ran(flow, ({ caller }) => (caller.path === 'pick' ? CHOSEN : 'done'));
    expect(prompts()['pick']).toBe(`<goal name="pick">\nPick.\n</goal>${REQUEST}chosen, why.`);
    expect(outputs).toEqual({ pick: CHOSEN, chosen: '["a",1]', why: 'short', write: 'done' });
    expect(prompts()['write']).toContain('Write [&quot;a&quot;,1], short.');
    expect(prompts()['write']).not.toContain('<goal name="chosen">');
    expect(census).toMatchObject({ succeeded: 2, degraded: 0 });
  });

  it('[decision 5] the synthesis is asked for the fields of its goal, and a single agent is', async () => {
    const [one, two] = [agent('one', 'You.'), agent('two', 'You.')];
    const several = await ran(flowOf(goal('g', 'Do.').using(one, two).withOutputs('chosen')), ({ caller }) =>
      caller.agent === 'synthesis' ? CHOSEN : 'text',
    );
    expect(several.prompts()['g/one']).toBe('Do.');
    expect(several.prompts()['g/synthesis']).toContain(`</goal>${REQUEST}chosen.`);
    expect(several.outputs).toMatchObject({ g: CHOSEN, chosen: '["a",1]' });
    const single = await ran(flowOf(goal('g', 'Do.').using(one).withOutputs('chosen')), () => CHOSEN);
    expect(single.prompts()['g/one']).toBe(`Do.${REQUEST}chosen.`);
    expect(single.outputs).toEqual({ g: CHOSEN, 'g.one': CHOSEN, chosen: '["a",1]' });
  });

  it('[A25] [addition 5] fields of an agent stand under it, and by themselves where they are declared once', async () => {
    const one = agent('one', 'You.').withOutputs('shared', 'own');
    const two = agent('two', 'You.').withOutputs('shared');
    const flow = flowOf(goal('g', 'Do.').using(one, two), goal('after', 'Use $own.'));
    const { outputs, prompts } = await ran(flow, ({ caller }) =>
      caller.agent === 'one' ? '{"shared": "a", "own": "b"}' : caller.agent === 'two' ? '{"shared": "c"}' : 'text',
    );
    expect(prompts()['g/one']).toBe(`Do.${REQUEST}shared, own.`);
    expect(outputs).toMatchObject({ 'g.one.shared': 'a', 'g.one.own': 'b', 'g.two.shared': 'c', own: 'b' });
    expect(outputs).not.toHaveProperty('shared');
    expect(prompts()['after']).toContain('Use b.');
    expect(flowOf(goal('g', 'Do.').using(one, two), goal('after', 'Use $shared.')).validate()).toHaveLength(1);
  });

  it('[decision 5] an answer without its fields is asked for once more; then its text alone counts, with a warning', async () => {
    const flow = flowOf(goal('g', 'Do.').withOutputs('f'), goal('after', 'Use $g, $f.'));
    const { outcome, outputs, requests } = await ran(flow, () => 'no JSON');
    expect([outcome, outputs, requests.length]).toEqual(['succeeded', { g: 'no JSON', after: 'no JSON' }, 3]);
    const strict = await ran(flowOf(goal('g', 'Do.').withOutputs('f', { strict: true })), () => 'no JSON');
    expect([strict.outcome, strict.error?.code]).toEqual(['failed', 'SKEIN_OUTPUT_INVALID']);
    const repaired = await ran(flowOf(goal('g', 'Do.').withOutputs('f')), ({ messages }) =>
      messages.length > 2 ? '{"f": "now"}' : 'no JSON',
    );
    expect(repaired.outputs).toEqual({ g: '{"f": "now"}', f: 'now' });
  });

  it('fields of an earlier answer are gone when an answer has none: of the same goal, a team, or the turn before', async () => {
    const rate = goal('rate', 'Rate.').withOutputs('score');
    const team = goal('team', 'Rate.').using(agent('one', 'You.'), agent('two', 'You.')).withOutputs('sum');
    const flow = flowOf(rate, team, rate, team, goal('report', 'Report [$score] [$sum].'));
    const seen = new Map<string, number>();
    const twice = await ran(flow, ({ caller: { path } }) => {
      const count = (seen.get(path) ?? 0) + 1;
      seen.set(path, count);
      return count === 1 && /^(?:rate|team\/synthesis)$/.test(path) ? '{"score": 1, "sum": 2}' : 'no JSON';
    });
    expect(twice.outputs).toMatchObject({ rate: 'no JSON', team: 'no JSON' });
    expect(twice.prompts()['report']).toContain('Report [] [].');

    const chat = workflow('chat')
      .input('of')
      .add(sequence('main').steps(rate, goal('report', 'Report [$score] of $of.')));
    const store = memoryStore();
    const say = (of: string, said: string) => {
      const { options, runtime, prompts } = talker(() => said);
      return chat.execute(runtime, { of }, { ...options, store, thread: 'one' }).then(() => prompts()['report']);
    };
    expect(await say('A', '{"score": 1}')).toContain('Report [1] of A.');
    expect(await say('B', 'no JSON')).toContain('Report [] of B.');
  });

  it('[A23] [decision 5] a field that is named like its goal wins over the text', async () => {
    const flow = flowOf(goal('g', 'Do.').withOutputs('g', 'f'), goal('after', 'Use $g.'));
    expect(flow.validate()).toEqual([]);
    const { outputs } = await ran(flow, ({ caller }) => (caller.path === 'g' ? '{"g": "won", "f": "x"}' : 'text'));
    expect(outputs).toEqual({ g: 'won', f: 'x', after: 'text' });
  });

  it('[A29] [addition 9] those of a convergence are those of the iteration that is kept; the marker has none', async () => {
    const said = ['{"f": 1}', '{"f": 2}', 'CONVERGED'];
    const flow = flowOf(convergence('c', 'Refine.', 5).withOutputs('f'));
    const { outputs, requests } = await ran(flow, () => said.shift() ?? '');
    expect(outputs).toEqual({ c: '{"f": 2}', f: '2' });
    expect(requests).toHaveLength(3);
    const repairing = ['no JSON', '{"f": 3}', 'CONVERGED'];
    const repaired = await ran(flow, () => repairing.shift() ?? '');
    expect([repaired.outputs, repaired.failures]).toEqual([{ c: '{"f": 3}', f: '3' }, {}]);
    const first = await ran(flow, () => '{"f": 1}\nCONVERGED');
    expect(first.outputs).toEqual({ c: '{"f": 1}', f: '1' });
  });
});
