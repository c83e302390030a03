import { describe, expect, it } from 'vitest';
import { runWorkflow } from '../../src/index.js';
import { loadWorkflowText } from '../../src/yaml.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const WORKFLOW = (budget: string, model: string, ofStep = ''): string => `name: b
budget: ${budget}
agents: { w: { inline: { prompt: You write., model: ${model} } } }
steps:
  - { id: one, agent: w, prompt: Hi${ofStep} }
  - { id: two, agent: w, prompt: Hi, depends_on: [one] }
`;
const PRICES = 'models:\n  own/*: { input: 1, output: 4 }\n';
const KEY = { OPENAI_API_KEY: 'x' };

describe('before a run', () => {
  it('plan shows the budgets, in words and as data', async () => {
    const cwd = await makeProject({
      'w.yaml': WORKFLOW('{ usd: 5, on_limit: stop }', 'openai/gpt-5-mini', ', budget: 9-calls'),
    });
    const { stdout } = await served(['plan', 'w.yaml'], { cwd });
    expect(stdout).toContain('\nbudget: $5.00, then stop\n');
    expect(stdout).toMatch(/one .*\n(?: .*\n)*? +budget: 9 calls\n/);
    const { stdout: json } = await served(['plan', 'w.yaml', '--json'], { cwd });
    expect(JSON.parse(json)).toMatchObject({
      budget: { usd: 5, onLimit: 'stop', text: '$5.00, then stop' },
      steps: [{ budgets: [{ calls: 9, text: '9 calls' }] }, {}],
    });
  });

  it('a budget below the first call is a warning of plan, validate and run', async () => {
    const cwd = await makeProject({ 'w.yaml': WORKFLOW('0.001', 'openai/gpt-5-mini', ', budget: 900-tokens') });
    for (const words of [
      ['plan', 'w.yaml'],
      ['validate', 'w.yaml'],
      ['run', 'w.yaml', '--mock', '--no-store'],
    ]) {
      const { stderr } = await served(words, { cwd });
      expect(stderr).toMatch(
        /warning small-budget: the run may spend \$0\.001, and its first call reserves \$0\.0\d+: nothing of it would run/,
      );
      expect(stderr).toMatch(
        /w\.yaml:5:11: warning small-budget: the step one may spend 900 tokens, and its first call reserves 17,\d+ tokens/,
      );
    }
    const flag = ['run', 'w.yaml', '--mock', '--no-store', '--budget', '1,100-tokens'];
    const asked = await makeProject({ 'w.yaml': WORKFLOW('0.001', 'openai/gpt-5-mini') });
    const { stderr } = await served(flag, { cwd: asked });
    expect(stderr).toContain('the run may spend 100 tokens, and its first call reserves');
    expect(stderr).not.toContain('may spend $');
    const enough = await makeProject({ 'w.yaml': WORKFLOW('1', 'openai/gpt-5-mini', ', budget: 90k-tokens') });
    expect((await served(['validate', 'w.yaml'], { cwd: enough })).stderr).not.toContain('warning');
  });

  it('so is a budget of a day or of a thread below the first call', async () => {
    const budget = '{ usd: 5, day: { usd: 0.001 }, thread: { tokens: 900 } }';
    const cwd = await makeProject({ 'w.yaml': WORKFLOW(budget, 'openai/gpt-5-mini') });
    const { stderr } = await served(['validate', 'w.yaml'], { cwd });
    expect(stderr).toMatch(/small-budget: the day may spend \$0\.001, and its first call reserves \$0\.0\d+: nothing/);
    expect(stderr).toMatch(/small-budget: the thread may spend 900 tokens, and its first call reserves 17,\d+ tokens/);
    expect(stderr).not.toContain('the run may spend');
  });

  it('a model without a price under a budget in dollars is a warning, and no run starts', async () => {
    const cwd = await makeProject({
      'w.yaml': WORKFLOW('1', 'openai/gpt-next-9'),
      'allowed.yaml': WORKFLOW('{ usd: 1, unpriced: allow }', 'openai/gpt-next-9'),
      'calls.yaml': WORKFLOW('9-calls', 'openai/gpt-next-9'),
    });
    const message = 'no-price: the price of openai/gpt-next-9 is unknown, and the run has a budget in dollars';
    expect((await served(['validate', 'w.yaml'], { cwd })).stderr).toContain(`warning ${message}`);
    const { code, stderr } = await served(['run', 'w.yaml', '--no-store'], { cwd, env: KEY });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message) as string]);
    for (const file of ['allowed.yaml', 'calls.yaml'])
      expect((await served(['validate', file], { cwd })).stderr).not.toContain('no-price');
    expect((await served(['run', 'w.yaml', '--mock', '--no-store'], { cwd })).code).toBe(0);
    const unnamed = await makeProject({ 'w.yaml': WORKFLOW('1', '') });
    const env = { ...KEY, SKEIN_MODEL: 'openai/gpt-next-9' };
    expect((await served(['run', 'w.yaml', '--no-store'], { cwd: unnamed, env })).stderr).toContain(message);
  });

  it('prices of your own count', async () => {
    const { plan, ...workflow } = await loadWorkflowText(WORKFLOW('1', 'own/large'), { cwd: '/tmp' });
    const models = { env: {}, providers: { own: () => ({ id: 'own/large', call: () => never() }) } } as object;
    const refused = runWorkflow({ ...workflow, plan }, { models, audit: false });
    await expect(refused).rejects.toMatchObject({
      code: 'SKEIN_DEFINITION',
      details: { problems: [{ code: 'no-price' }] },
    });
    const prices = { models: { 'own/*': { input: 1, output: 4 } } };
    const { result } = await runWorkflow({ ...workflow, plan }, { models, prices, audit: false });
    expect((await result).outcome).toBe('failed');
    const cwd = await makeProject({ 'w.yaml': WORKFLOW('1', 'openai/gpt-next-9'), 'p.yaml': PRICES });
    const { stderr } = await served(['run', 'w.yaml', '--no-store', '--prices', 'p.yaml', '--model', 'own/x'], { cwd });
    expect(stderr).not.toContain('no-price');
  });
});

function never(): never {
  throw new Error('not asked');
}
