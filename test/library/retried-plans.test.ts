import { expect, test } from 'vitest';
import { definePlan, run } from 'skein';
import type { SkeinEvent } from 'skein';
import { graph, workflowNode } from 'skein/graph';

/** Fails on its first attempt as a whole, after one of its steps has failed and another was skipped. */
function flaky() {
  let tries = 0;
  return definePlan({
    name: 'inner',
    inputs: [{ name: 'seed', default: 1 }],
    nodes: [
      { id: 'first', run: () => ({ d: tries }) },
      {
        id: 'tolerated',
        onError: 'continue',
        run: () => (tries === 0 ? Promise.reject(new Error('first')) : { a: tries }),
      },
      { id: 'behind', run: () => ({ b: tries }) },
      {
        id: 'last',
        join: 'settled',
        run: () => {
          tries += 1;
          if (tries === 1) throw new Error('once more');
          return { c: tries };
        },
      },
    ],
    edges: [
      ['first', 'tolerated', 'behind'],
      ['behind', 'last'],
    ],
  });
}

const RETRY = { retries: 1, backoff: 'fixed', delayMs: 1, on: 'any' } as const;

test('[XP1] the result tells nothing of attempts of a workflow inside that do not count', async () => {
  const whole = definePlan({
    name: 'outer',
    nodes: [{ id: 'sub', kind: 'call', plan: flaky(), retry: RETRY }],
  });
  const paths: string[] = [];
  const listen = (event: SkeinEvent): void => void (event.type === 'step.ended' && paths.push(event.path));
  const result = await run(whole, { listeners: [listen] }).result;
  expect(result).toMatchObject({ outcome: 'succeeded', census: { degraded: 0, failed: 0, skipped: 0 } });
  expect(result.steps).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(['sub/tolerated', 'sub~2/tolerated', 'sub~2/last', 'sub']));
});

test('[XP1] a graph tells which nodes ran in the attempt that counts', async () => {
  const flow = graph()
    .node('sub', workflowNode(flaky(), 'sub', { taskParam: null, projectState: true }), { retry: RETRY })
    .setEntry('sub');
  const result = await flow.run();
  expect(result.state).toMatchObject({ sub: { a: 1, b: 1, c: 2 } });
  const end = result.events.find((event) => event.type === 'workflow_end' && event.source === 'sub');
  expect(end?.metadata['nodes_run']).toEqual(['first', 'tolerated', 'behind', 'last']);
});
