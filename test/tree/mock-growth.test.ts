import { describe, expect, it } from 'vitest';
import { convergence, goal } from 'skein/tree';
import { flowOf } from './support.js';

describe('[decision 2] a tree under mock/echo', () => {
  it('answers with what was asked, not with what came before: texts do not double with each goal and iteration', async () => {
    const flow = flowOf(goal('one', 'Do it.'), goal('two', 'Go on.'), convergence('polish', 'Polish it.', 60));
    const { outputs, failures } = await flow.execute({ model: 'mock/echo' });
    expect(outputs['two']).toBe('<goal name="two">\nGo on.\n</goal>');
    expect(outputs['polish']?.length).toBeLessThan(500);
    expect(failures).toEqual({ polish: 60 });
  });
});
