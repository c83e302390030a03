import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWorkflow } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import type { Policy } from 'skein/yaml';
import { rejected } from '../thrown.js';
import { NO_CALL, tell } from './support/figures.js';
import { folder } from './support/policed.js';

const flow = (config: string): string => `name: t
${config}agents: { a: { inline: { prompt: p, model: mock/echo, tools: [] } } }
steps: [{ id: s, agent: a, prompt: hello }]
`;

/** Runs a workflow that keeps run folders elsewhere; gives what stands there. */
async function kept(policy: readonly Policy[], config = 'config: { audit_dir: ../outside }\n') {
  const { cwd, outside } = await folder({ 'a.md': '' });
  const workflow = await loadWorkflowText(flow(config), { cwd });
  const run = async () => await (await runWorkflow(workflow, { cwd, policy: [...policy] })).result;
  const names = async () => (await readdir(outside)).filter((name) => name === 'outside');
  return { cwd, run, names };
}

describe('[G10] the folder that a workflow names for run folders', () => {
  it.each([
    ['there is no policy', []],
    ['the folders of the policy hold it', [{ file: 'own', widens: true, folders: ['..'] }]],
  ] satisfies readonly (readonly [string, readonly Policy[]])[])('is written to when %s', async (_, policy) => {
    const { run, names } = await kept(policy);
    expect((await run()).outcome).toBe('succeeded');
    expect(await names()).toEqual(['outside']);
  });

  it.each([
    ['the folders of the policy do not hold it', [{ file: 'own', widens: true, folders: ['docs'] }]],
    ['those of the project do not', [{ file: 'project', folders: ['docs'] }]],
    ['the project is of strangers', [{ file: 'own', widens: true, project: 'untrusted' }]],
  ] satisfies readonly (readonly [string, readonly Policy[]])[])('is not written to when %s', async (_, policy) => {
    const { run, names } = await kept(policy);
    const error = await rejected(run);
    expect(error).toMatchObject({ code: 'SKEIN_POLICY' });
    expect(await names()).toEqual([]);
    tell({ what: 'audit folders against a policy', n: 1, forbidden: 0, goal: NO_CALL });
  });

  it('that of Skein itself is written to whatever a policy says of the folders of agents', async () => {
    const { cwd, run } = await kept([{ file: 'own', widens: true, folders: ['docs'], project: 'untrusted' }], '');
    expect((await run()).outcome).toBe('succeeded');
    expect(await readdir(join(cwd, '.workflow-runs'))).not.toEqual([]);
  });
});
