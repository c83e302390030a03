import { expect, it } from 'vitest';
import { loadDagText } from '../../src/notations/load-workflow.js';
import { powersOf } from '../../src/plan/powers.js';

const flow = (head: string, agent: string, step = ''): string =>
  `name: t\n${head}\nagents: { w: { inline: { prompt: x, tools: []${agent} } } }\nsteps: [{ id: a, agent: w, prompt: p${step} }]\n`;

async function followedBy(text: string): Promise<readonly string[]> {
  const { plan, problems } = await loadDagText(text, { cwd: '/project' });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (plan === undefined) throw new Error('no plan');
  return powersOf(plan).flatMap(({ kind, what, why }) => (kind === 'follows' ? [`${what}, ${why}`] : []));
}

it.each([
  ['by its name', flow('', ', model: script/../s.yaml'), '../s.yaml, model of agent w'],
  ['by its name with spaces', flow('', ', model: " Script/../s.yaml"'), '../s.yaml, model of agent w'],
  [
    'in the budget of the run',
    flow('budget: { usd: 1, on_limit: { model: script/../s.yaml } }', ''),
    '../s.yaml, model that a budget names',
  ],
  [
    'in the budget of a step',
    flow('', '', ', budget: { usd: 1, on_limit: { model: script/../s.yaml } }'),
    '../s.yaml, model that a budget names',
  ],
])(
  'a script that takes the place of a model is among the powers of a file that names it %s',
  async (_, text, wanted) => {
    expect(await followedBy(text)).toEqual([wanted]);
  },
);
