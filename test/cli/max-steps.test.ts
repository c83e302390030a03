import { expect, test } from 'vitest';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `import { END, graph } from 'skein/graph';

export default graph<{ n?: number }>({ name: 'counts' })
  .addNode('again', ({ n = 0 }) => ({ n: n + 1 }))
  .addConditionalEdge('again', ({ n = 0 }) => (n < 8 ? 'again' : END), { again: 'again' })
  .setEntry('again');
`;

test('[XG12] --max-steps bounds one run, a resume keeps it and can raise it', async () => {
  const cwd = await makeProject({ 'flow.ts': FLOW });
  const first = await served(['run', 'flow.ts', '--max-steps', '3', '--no-audit'], { cwd });
  expect(first.code).toBe(3);
  expect(first.stderr).toContain('--max-steps N');
  const kept = await served(['resume', '-1'], { cwd });
  expect(kept.code).toBe(3);
  const raised = await served(['resume', '-1', '--max-steps', '20', '--json'], { cwd });
  expect(raised.code).toBe(0);
  expect(documentOf(raised)).toMatchObject({ outcome: 'succeeded', reused: 3, ran: 5 });
  expect((await served(['run', 'flow.ts', '--max-steps', '0'], { cwd })).code).toBe(1);
});
