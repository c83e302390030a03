import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { graph } from 'skein/graph';

export default graph<{ order: string }>({ name: 'shop' })
  .node('pay', async ({ order }, step) => {
    const receipt = await step.run('charge', () => {
      appendFileSync('done.txt', 'charge ');
      return { id: order + '-1' };
    });
    if (existsSync('wait')) {
      console.error('charged');
      await setTimeout(60_000);
    }
    const mail = await step.run('mail', () => {
      appendFileSync('done.txt', 'mail ');
      return receipt.id + ' mailed';
    });
    return mail;
  })
  .setEntry('pay');
`;

test('[XG11] a process that is killed half-way through a function: what step.run has done is not done again', async () => {
  const cwd = await makeProject({ 'flow.ts': FLOW, wait: '' });
  const running = startSkein(['run', 'flow.ts', '-i', 'order=o', '--no-audit'], { cwd });
  await running.seen('charged');
  running.child.kill('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
  const { rm } = await import('node:fs/promises');
  await rm(join(cwd, 'wait'));
  const end = await served(['resume', '-1'], { cwd });
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('o-1 mailed') as string });
  expect(await readFile(join(cwd, 'done.txt'), 'utf8')).toBe('charge mail ');
  const told = await served(['logs', '-1'], { cwd });
  expect(told.stdout).toContain('charge done');
  expect(told.stdout).toContain('mail done');
});
