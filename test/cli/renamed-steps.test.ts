import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAIN, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const RENAMED = CHAIN.replace('id: text,', 'id: song,');

async function recorded(edited: string): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  await writeFile(join(cwd, 'flow.yaml'), edited);
  return cwd;
}

describe('a step with another name', () => {
  it('[XR8] resume says that it is the same step, and that it runs again', async () => {
    const cwd = await recorded(RENAMED);
    const { code, stderr } = await served(['resume', '-1'], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain(
      '\n  step song was called text: it runs again, as results are kept under the name of their step\n',
    );
    expect(stderr).not.toMatch(/step (song|text) (added|removed)/);
    expect(stderr).toContain('\n1 reused, 1 run\n');
  });

  it('[XR8] that it runs again is said though --quiet is given', async () => {
    const cwd = await recorded(RENAMED);
    expect((await served(['resume', '-1', '--quiet'], { cwd })).stderr).toContain('step song was called text');
  });

  it('[XR8] one that also does something else is another step', async () => {
    const cwd = await recorded(RENAMED.replace('Text from', 'Song from'));
    const { stderr } = await served(['resume', '-1'], { cwd });
    expect(stderr).toContain('  step song added\n  step text removed\n');
    expect(stderr).not.toContain('was called');
  });

  it('[XR8] of two that do the same nobody can say which it was', async () => {
    const twins = (one: string, other: string): string =>
      `name: twins\nagents:\n  writer: { inline: { prompt: You write., tools: [] } }\nsteps:\n${['start', one, other]
        .map((id) => `  - { id: ${id}, agent: writer, prompt: ${id === 'start' ? 'Begin' : 'The same'} }\n`)
        .join('')}`;
    const cwd = await makeProject({ 'flow.yaml': twins('a', 'b') });
    expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
    await writeFile(join(cwd, 'flow.yaml'), twins('c', 'd'));
    const { stderr } = await served(['resume', '-1'], { cwd });
    expect(stderr).toContain('  step c added\n  step d added\n  step a removed\n  step b removed\n');
  });
});
