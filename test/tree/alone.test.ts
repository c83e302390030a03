import { describe, expect, it } from 'vitest';
import { agent, convergence, goal, state } from '../../src/tree.js';
import { talker } from './support.js';

describe('a step that is run by itself', () => {
  it('[A8] [addition 4] reads the state and adds to it; the state is made of a copy of the inputs', async () => {
    const talk = talker();
    const inputs = { topic: 'looms' };
    const at = state(inputs);
    inputs.topic = 'mills';
    const draft = goal('draft', 'Write about $topic.').using(agent('a', 'You.'), agent('b', 'You.'));
    const result = await draft.execute(talk.runtime, at, talk.options);
    expect(result).toMatchObject({ outcome: 'succeeded', inputs: { topic: 'looms' } });
    expect(talk.prompts()['draft/a']).toBe('Write about looms.');
    await convergence('polish', 'Polish $draft.', 2).execute(talk.runtime, at, talk.options);
    expect(talk.prompts()['polish#1/polish']).toContain(
      '<prior-goals>\n<goal name="draft">\nsaid by draft/synthesis\n</goal>\n</prior-goals>',
    );
    expect(at).toEqual({
      inputs: { topic: 'looms' },
      outputs: {
        draft: 'said by draft/synthesis',
        'draft.a': 'said by draft/a',
        'draft.b': 'said by draft/b',
        polish: 'said by polish#2/polish',
      },
      failures: { polish: 2 },
    });
  });

  it('[A33] [A34] an agent needs a task; persona and task are filled in from the state', async () => {
    const talk = talker();
    const critic = agent('critic', 'You know $domain.');
    const at = state({ domain: 'law', document: 'policy.md' });
    await expect(critic.execute(talk.runtime, at, talk.options)).rejects.toThrow(
      'preflight: sequences[0].steps[0]: error no-task: agent critic: task is required (call .Task() before .Execute())',
    );
    await critic.task('Review $document.').execute(talk.runtime, at, talk.options);
    expect(talk.systems()['critic']).toBe('You know law.');
    expect(talk.prompts()['critic']).toBe('Review policy.md.');
    expect(at.outputs).toEqual({ critic: 'said by critic' });
  });

  it('fields of a step before are values, not prior goals', async () => {
    const talk = talker(({ caller }) => (caller.path === 'pick' ? '{"chosen": "one"}' : 'text'));
    const at = state();
    await goal('pick', 'Pick.').withOutputs('chosen').execute(talk.runtime, at, talk.options);
    await goal('use', 'Use $chosen.').execute(talk.runtime, at, talk.options);
    expect(talk.prompts()['use']).toBe(
      '<prior-goals>\n<goal name="pick">\n{&quot;chosen&quot;: &quot;one&quot;}\n</goal>\n</prior-goals>\n\n<goal name="use">\nUse one.\n</goal>',
    );
  });

  it('[decision 9] a step that fails leaves the state as it was, and tells why', async () => {
    const at = state({ topic: 'looms' });
    const talk = talker(() => {
      throw new Error('down');
    });
    const result = await goal('draft', 'Write.').execute(talk.runtime, at, talk.options);
    expect([result.outcome, result.error?.message, at.outputs]).toEqual(['failed', 'down', {}]);
  });
});
