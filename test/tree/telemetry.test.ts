import { describe, expect, it } from 'vitest';
import { memoryStore, supervisor } from 'skein';
import { agent, attributesOf, convergence, goal, sequence, workflow } from 'skein/tree';
import type { TreeEvent } from 'skein/tree';
import { flowOf, talker } from './support.js';

function told(): { readonly events: TreeEvent[]; readonly telemetry: (event: TreeEvent) => void } {
  const events: TreeEvent[] = [];
  return { events, telemetry: (event) => void events.push(event) };
}

function short(event: TreeEvent): string {
  const { name, level } = event;
  const about = Object.entries(attributesOf(event)).flatMap(([key, value]) =>
    SPENT.has(key) ? [] : [`${key}=${value}`],
  );
  return [level, name, ...about].join(' ');
}

const SPENT = new Set(['model_calls', 'input_tokens', 'output_tokens', 'cost_usd', 'unpriced_calls']);

const flow = workflow('essay')
  .input('topic')
  .add(
    sequence('main').steps(
      goal('first draft', 'Write about $topic.'),
      goal('review', 'Review $topic.').using(agent('ann', 'You are Ann.'), agent('bob', 'You are Bob.')),
      convergence('polish', 'Polish it.', 2),
    ),
  );

describe('[E1] [addition 4] telemetry of a runtime', () => {
  it('gets the events of the tree in order, with the names that the author gave', async () => {
    const { runtime, options } = talker(({ caller }) => `by ${caller.path}`);
    const { events, telemetry } = told();
    const result = await flow.execute({ ...runtime, telemetry }, { topic: 'rain' }, options);
    expect(result.outcome).toBe('succeeded');
    expect(events.map(short)).toEqual([
      'info workflow.started workflow=essay',
      'info goal.started goal=first draft description=Write about rain.',
      expect.stringMatching(/^info goal\.ended goal=first draft output_len=\d+$/),
      'info goal.started goal=review description=Review rain.',
      'info subagent.spawned goal=review agent=ann',
      'info subagent.spawned goal=review agent=bob',
      'info subagent.completed goal=review agent=ann output_len=13',
      'info subagent.completed goal=review agent=bob output_len=13',
      'info goal.ended goal=review output_len=19',
      'info goal.started goal=polish description=Polish it.',
      'info loop.round goal=polish round=1 change=1',
      'info loop.round goal=polish round=2 change=1',
      'warn convergence.cap_reached convergence=polish cap=2',
      'info goal.ended goal=polish output_len=18',
      'info workflow.ended workflow=essay',
    ]);
  });

  it('[15] says of each goal, its agents and the workflow what they have spent, with all that was inside', async () => {
    const { runtime, options } = talker();
    const { events, telemetry } = told();
    const { spent } = await flow.execute({ ...runtime, telemetry }, { topic: 'rain' }, options);
    const found = events.flatMap((event) => {
      const { model_calls, unpriced_calls } = attributesOf(event);
      const name = 'agent' in event ? event.agent : 'goal' in event ? event.goal : event.name;
      return model_calls === undefined ? [] : [[name, model_calls, unpriced_calls]];
    });
    expect(found).toEqual([
      ['first draft', 1, 1],
      ['ann', 1, 1],
      ['bob', 1, 1],
      ['review', 3, 3],
      ['polish', 2, 2],
      ['workflow.ended', 6, 6],
    ]);
    expect(spent).toMatchObject({ modelCalls: 6, unpricedCalls: 6, usd: 0 });
  });

  it('[A14] gets one event for a tree with problems, and none of a run', async () => {
    const { events, telemetry } = told();
    const failing = workflow('empty').add(sequence('main')).execute({ model: 'own/m', telemetry });
    await expect(failing).rejects.toThrow('preflight: ');
    expect(events.map(short)).toEqual(['error preflight.failed workflow=empty']);
    expect(events[0]).toMatchObject({ failure: { code: 'SKEIN_DEFINITION' }, runId: '', path: '' });
  });

  it('[A7] gets nothing where a parameter is missing', async () => {
    const { events, telemetry } = told();
    await expect(flow.execute({ model: 'own/m', telemetry })).rejects.toThrow('required parameter missing: topic');
    expect(events).toEqual([]);
  });

  it('never changes a run by what it throws', async () => {
    const { runtime, options } = talker();
    const telemetry = (): never => {
      throw new Error('no disk');
    };
    const { outcome } = await flow.execute({ ...runtime, telemetry }, { topic: 'rain' }, options);
    expect(outcome).toBe('succeeded');
    const failing = workflow('empty').execute({ model: 'own/m', telemetry });
    await expect(failing).rejects.toThrow('preflight: ');
  });

  it('[issue 14] gets nothing twice, with the descriptions of what is new, when a run is resumed', async () => {
    const store = memoryStore();
    const two = flowOf(goal('one', 'Do it.'), goal('two', 'Go on.'), goal('three', 'End $one.'));
    const broken = talker(({ caller }) => {
      if (caller.path === 'two') throw new Error('down');
      return 'one done';
    });
    const first = await two.execute(broken.runtime, {}, { ...broken.options, store });
    expect(first.outcome).toBe('failed');
    const { events, telemetry } = told();
    const whole = talker(() => 'done');
    await two.execute({ ...whole.runtime, telemetry }, {}, { ...whole.options, store, resume: first.runId });
    expect(events.map(short)).toEqual([
      'info goal.ended goal=two output_len=4',
      'info goal.started goal=three description=End one done.',
      'info goal.ended goal=three output_len=4',
      'info workflow.ended workflow=flow',
    ]);
  });
});

describe('[addition 11] telemetry of a supervised step', () => {
  it('gets promise, assessment, verdict and correction of the goal, and what a person decides', async () => {
    const seen: string[] = [];
    const { runtime, options } = talker(({ caller }) => {
      if (caller.phase === 'commit') return '{"interpretation":"i","confidence":"high"}';
      if (caller.phase === 'post') return '{"met_commitment":false,"concerns":["short"]}';
      if (caller.phase !== 'supervise') return 'the work';
      seen.push('supervise');
      return seen.length === 1
        ? '{"verdict":"reorient","correction":"longer","reason":"too short"}'
        : '{"verdict":"ask_human","question":"Is it fine?"}';
    });
    const { events, telemetry } = told();
    const supervised = flowOf(goal('one', 'Do it.').supervise());
    const human = (): Promise<unknown> => Promise.resolve('approve');
    const { outcome, error } = await supervised.execute(
      { ...runtime, telemetry, supervisor: supervisor({}), human },
      {},
      options,
    );
    expect([outcome, error]).toEqual(['succeeded', undefined]);
    expect(events.map(({ name, level }) => `${level} ${name}`)).toEqual([
      'info workflow.started',
      'info goal.started',
      'info supervision.commit',
      'info supervision.post',
      'info supervision.reconcile',
      'info supervision.verdict',
      'warn supervision.corrected',
      'info supervision.post',
      'info supervision.reconcile',
      'info supervision.verdict',
      'info approval.requested',
      'info approval.decided',
      'info supervision.accepted',
      'info goal.ended',
      'info workflow.ended',
    ]);
    const byName = Object.fromEntries(events.map((event) => [event.name, event]));
    expect(byName).toMatchObject({
      'supervision.reconcile': { goal: 'one', escalate: true },
      'supervision.corrected': { goal: 'one', attempt: 2, correction: 'longer' },
      'approval.decided': { goal: 'one', verdict: 'approve', by: 'code' },
    });
  });
});
