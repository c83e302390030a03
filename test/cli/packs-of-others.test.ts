import { describe, expect, it, vi } from 'vitest';
import { writtenFilesIn } from '../../src/cli/run/written-files.js';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const COMPANY = { name: 'company', type: 'string', required: true };
const PACK = packText(
  { desk: { system_template: 'You work for {{company}}.', variables: [COMPANY] } },
  { desk: { prompt_task: 'desk', persistence: 'transient', on_event: { Again: 'desk' } } },
);
const RUN = ['run', 'desk.pack.json', '--mock', '--thread', 'ada', '--message'];

async function project() {
  const cwd = await makeProject({ 'desk.pack.json': PACK, 'company.md': 'Loom' });
  const env = { XDG_STATE_HOME: `${cwd}/state` };
  const skein = (...words: string[]) => served(words, { cwd, env });
  /** Runs a turn and returns the steps that others influenced. */
  const heard = async (...words: string[]): Promise<readonly string[]> => {
    const { stdout, stderr } = await skein(...RUN, ...words);
    expect(stderr + stdout).not.toContain('error');
    return [...(await skein('show', '-1', '--taint')).stdout.matchAll(/^ {2}(\S+) +untrusted/gm)].map(
      ([, step = '']) => step,
    );
  };
  return { cwd, env, skein, heard };
}

describe('a variable of a pack that others influenced', () => {
  it('is marked by its name, and stays marked in the turns after it', async () => {
    const { heard } = await project();
    const marked = await heard('Hi.', '--input', 'company=Loom', '--untrusted', 'company');
    expect(marked).toContain('fresh.desk');
    expect(await heard('Again.')).toContain('state.desk');
  });

  it('is marked if it is in a file that an agent wrote after something untrusted', async () => {
    const { cwd, env, heard } = await project();
    vi.stubEnv('XDG_STATE_HOME', env.XDG_STATE_HOME);
    writtenFilesIn(cwd).note('company.md', false, '');
    vi.unstubAllEnvs();
    expect(await heard('Hi.', '--input-file', 'company=company.md')).toContain('fresh.desk');
  });

  it('is the only kind of name, beside the parts of a turn', async () => {
    const { skein } = await project();
    const { code, stderr } = await skein(...RUN, 'Hi.', '--input', 'company=Loom', '--untrusted', 'compony');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`has no input 'compony' that could be untrusted\n    hint: did you mean "company"?`),
    ]);
  });
});
