import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore } from 'skein';
import type { Runnable, SkeinEvent, Supervisor } from 'skein';
import { agent as writer, agentNode, graph } from 'skein/graph';
import { DRIFT, FakeModels, runWith } from './support.js';

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };

/** A supervised agent, and a function that reads what it wrote. */
function writes(supervise?: object, prompt = 'Write.'): Runnable {
  const more = supervise === undefined ? {} : { supervise: { by: 'model' as const, ...supervise } };
  return definePlan({
    name: 'two',
    nodes: [
      { id: 'w', kind: 'agent', agent, prompt: [prompt], output: 'text', ...more },
      { id: 'after', output: 'after', run: ({ text }: { readonly text?: string }) => `${text ?? ''}!` },
    ],
    edges: [['w', 'after']],
  });
}

/** The work drifts, the supervisor has it corrected once, and lets the second attempt pass. */
const drifting = (): FakeModels =>
  new FakeModels({
    work: ({ prompt }) => (prompt.includes('shorter') ? 'two' : 'one'),
    post: DRIFT,
    supervise: ({ prompt }) =>
      prompt.includes('shorter') ? '{"verdict":"continue"}' : '{"verdict":"reorient","correction":"shorter"}',
  });

const warnings = (events: readonly SkeinEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'run.warning' ? [event.message] : []));

const ASK = { answer: () => Promise.resolve('approve') };

/** What a fork of a run with one supervision asks models for, under another one. */
async function forked(before: object | undefined, after: object | undefined) {
  const store = memoryStore();
  const first = await runWith(drifting(), writes(before), { store, runId: 'r', ...ASK });
  const models = drifting();
  const again = await runWith(models, writes(after), { store, fork: { run: 'r' }, ...ASK });
  expect([first.outcome, again.outcome]).toEqual(['succeeded', 'succeeded']);
  return {
    asked: models.calls.map((call) => call.replace('w ', '')),
    text: again.state['text'],
    told: warnings(again.events),
  };
}

const TOLD = /supervision.*supervised again, with their work as it is: w\b/;

describe('[addition 1] an edit of the supervision of finished work', () => {
  it('repeats nothing where there was none', async () => {
    expect(await forked({}, {})).toEqual({ asked: [], text: 'two', told: [] });
  });

  it('another model of the supervisor judges again, and nothing is promised or done again', async () => {
    const { asked, text, told } = await forked({}, { model: 'fake/strict' });
    expect([asked, text]).toEqual([['supervise', 'supervise'], 'two']);
    expect(told[0]).toMatch(TOLD);
  });

  it('a person in place of a model is asked, and sees the work that is there', async () => {
    const { asked, text, told } = await forked({}, { by: 'human' });
    // The person lets the first attempt pass, which the model had corrected.
    expect([asked, text]).toEqual([[], 'one']);
    expect(told[0]).toMatch(TOLD);
    expect(told[0]).toMatch(/comes out differently: after/);
  });

  it('switching it on judges finished work, and switching it off takes the first attempt as it is', async () => {
    const on = await forked(undefined, {});
    expect(on.asked).toEqual(['commit', 'post', 'supervise', 'work', 'post', 'supervise']);
    expect(on.told[0]).toMatch(TOLD);
    const off = await forked({}, undefined);
    expect([off.asked, off.text]).toEqual([[], 'one']);
    expect(off.told[0]).not.toMatch(TOLD);
    expect(off.told[0]).toMatch(/comes out differently: after/);
  });

  it('another instruction is promised anew, and the work stays', async () => {
    const { asked, text } = await forked({ instruction: ['Be short.'] }, { instruction: ['Be brief.'] });
    expect([asked, text]).toEqual([['commit', 'post', 'supervise', 'post', 'supervise'], 'two']);
  });

  it('an edit of the work repeats all of it', async () => {
    const store = memoryStore();
    await runWith(drifting(), writes({}), { store, runId: 'r' });
    const models = drifting();
    const { state } = await runWith(models, writes({}, 'Write more.'), { store, fork: { run: 'r' } });
    expect(models.calls).toHaveLength(7);
    expect(state['after']).toBe('two!');
  });

  it('another code of the supervisor of a node judges again, and nothing is promised or done again', async () => {
    const supervised = (supervise: Supervisor['supervise']) =>
      graph<{ task: string }>()
        .node('w', agentNode(writer({ name: 'a', model: 'fake/own', instructions: 'Write.' })), {
          supervise: { supervisor: { reconcile: () => ({ triggers: ['always'], escalate: true }), supervise } },
        })
        .setEntry('w')
        .compile();
    const store = memoryStore();
    const inputs = { task: 'x' };
    await runWith(
      drifting(),
      supervised(() => ({ verdict: 'continue' })),
      { store, runId: 'r', inputs },
    );
    for (const [edited, calls, told] of [
      [supervised(() => ({ verdict: 'continue' })), [], []],
      [supervised(() => ({ verdict: 'continue', reason: 'fine' })), [], [expect.stringMatching(TOLD)]],
    ] as const) {
      const models = drifting();
      const { outcome, events } = await runWith(models, edited, { store, fork: { run: 'r' } });
      expect([outcome, models.calls, warnings(events)]).toEqual(['succeeded', calls, told]);
    }
  });

  it('a supervisor of the run, which no plan shows, is told of when it judges again', async () => {
    const strict = (version: string): Supervisor => ({
      version,
      reconcile: () => ({ triggers: ['always'], escalate: true }),
      supervise: () => ({ verdict: 'continue' }),
    });
    const store = memoryStore();
    await runWith(drifting(), writes({}), { store, runId: 'r', supervisor: strict('1') });
    const models = drifting();
    const { events } = await runWith(models, writes({}), { store, fork: { run: 'r' }, supervisor: strict('2') });
    expect(models.calls).toEqual([]);
    expect(warnings(events)).toEqual([expect.stringMatching(/^w is judged again: /)]);
  });
});
