import { describe, expect, it } from 'vitest';
import { runWorkflow } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import { ownModels } from '../graph/support-agents.js';

/** Files whose agent names a model. */
const FILES = {
  dag: (model: string) =>
    `name: d\nagents: { a: { inline: { prompt: x, tools: [], model: ${model} } } }\nsteps: [{ id: one, agent: a, prompt: Go. }]\n`,
  pipeline: (model: string) => `agents: { a: { instruction: x, model: ${model} } }\n`,
} as const;

describe.each(Object.entries(FILES))('a provider that only the program has, in a %s', (_notation, file) => {
  const load = async (model: string) => await loadWorkflowText(file(model), { file: 'w.yaml', cwd: '/' });

  it('is taken, and answers', async () => {
    const workflow = await load('own/m');
    expect(workflow.problems).toEqual([]);
    const { models, requests } = ownModels({ m: () => 'said' });
    const { outcome, error } = await (await runWorkflow(workflow, { audit: false, models })).result;
    expect([outcome, error, requests.length]).toEqual(['succeeded', undefined, 1]);
  });

  it('that nobody has is told before anything runs', async () => {
    const run = async (): Promise<unknown> => (await runWorkflow(await load('nowhere/m'), { audit: false })).result;
    await expect(run()).rejects.toMatchObject({ code: 'SKEIN_MODEL_UNKNOWN' });
  });

  it('[unknown-provider] is a warning where another one was most likely meant', async () => {
    const workflow = await load('opnai/m');
    expect(workflow.problems).toMatchObject([
      { code: 'unknown-provider', severity: 'warning', hint: 'did you mean "openai"?', at: { file: 'w.yaml' } },
    ]);
    expect(workflow.plan).toBeDefined();
  });
});
