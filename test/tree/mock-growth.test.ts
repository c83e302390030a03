import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
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

  it('a journal has what each goal gave once, whatever the prompts behind it hold of it', async () => {
    const bytesOf = async (count: number): Promise<number> => {
      const store = memoryStore();
      const goals = Array.from({ length: count }, (_, at) => goal(`g${at}`, `Do ${'it '.repeat(100)}.`));
      const { outcome } = await flowOf(...goals).execute({ model: 'mock/echo' }, {}, { store, runId: 'r' });
      expect(outcome).toBe('succeeded');
      const lines = store.read('r').flatMap(({ text }) => text.split('\n'));
      return lines.filter((line) => line.includes('"t":"done"')).reduce((sum, { length }) => sum + length, 0);
    };
    const [few, many] = [await bytesOf(20), await bytesOf(80)];
    expect(many / few).toBeGreaterThan(3.9);
    expect(many / few).toBeLessThan(4.1);
  });
});
