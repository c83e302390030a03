import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const FILES = {
  'vote.yaml': `name: vote
agents: { judge: { inline: { prompt: You vote., tools: [] } } }
steps:
  - { id: vote, agent: judge, prompt: Vote., schema: { verdict: { enum: [merge, block] } } }
`,
  'bad.yaml': 'rules: [{ step: vote, answers: [no idea, still none] }]\n',
  'good.yaml': 'rules: [{ step: vote, answers: [no idea, { json: { verdict: merge } }] }]\n',
};

it('a resume asks again for an answer that did not match its schema, and the hint names keys that files have', async () => {
  const cwd = await makeProject(FILES);
  const failed = await served(['run', 'vote.yaml', '--mock=bad.yaml'], { cwd });
  expect(failed.code).toBe(3);
  expect(failed.stderr).toContain('hint: simplify the schema, or use a stronger model\n');
  await copyFile(join(cwd, 'good.yaml'), join(cwd, 'bad.yaml'));
  const resumed = await served(['resume', '-1'], { cwd });
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('0 reused, 1 run')]);
  expect(resumed.stdout).toContain('"verdict": "merge"');
});
