import { expect, test } from 'vitest';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: flow
agents:
  a: { inline: { prompt: You write., tools: [], model: openai/priced } }
  b: { inline: { prompt: You write., tools: [], model: openai/unknown-to-all } }
steps:
  - { id: one, agent: a, prompt: Write, retry_count: 1 }
  - { id: two, agent: a, depends_on: [one], prompt: Write }
`;
const PRICES = 'models: { openai/priced: { input: 1, output: 10, limit: 2000 } }\n';

test('[15] skein plan says both cases in money, the worst with all tries, by what is assumed of a call', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'prices.yaml': PRICES });
  const plan = ['plan', 'flow.yaml', '--prices', 'prices.yaml'];
  const end = await served(plan, { cwd });
  expect(end.code, end.stderr).toBe(0);
  // Two tries of the first, three of the second; a call costs $0.014 typically, $0.12 at most.
  expect(end.stdout).toContain(
    '\nmodel calls: 2 typically, 5 at most\ncost: about $0.028 typically, about $0.60 at most\n',
  );
  expect(end.stdout).toContain(
    "\n  if a call reads 4000 tokens more than its agent's texts and writes 1000; at most, ",
  );
  const { cost } = JSON.parse((await served([...plan, '--json'], { cwd })).stdout) as { cost: object };
  expect(cost).toEqual({
    typical: { usd: expect.closeTo(0.028_01, 4) as number, unpricedCalls: 0 },
    worst: { usd: expect.closeTo(0.600_02, 4) as number, unpricedCalls: 0 },
  });
});

test('[15] skein plan never says that calls of unknown price cost nothing', async () => {
  const mixed = FLOW.replace('{ id: two, agent: a,', '{ id: two, agent: b,');
  const cwd = await makeProject({ 'flow.yaml': mixed, 'prices.yaml': PRICES });
  const known = await served(['plan', 'flow.yaml', '--prices', 'prices.yaml'], { cwd });
  expect(known.stdout).toContain(
    '\ncost: about $0.014 and 1 call of unknown price typically, about $0.24 and 3 calls of unknown price at most\n',
  );
  const unknown = await served(['plan', 'flow.yaml'], { cwd });
  expect(unknown.stdout).toContain('\ncost: unknown price: ');
  const named = await served(['plan', 'flow.yaml', '--model', 'openai/priced', '--prices', 'prices.yaml'], { cwd });
  expect(named.stdout).toContain('\ncost: about $0.028 typically, about $0.60 at most\n');
});
