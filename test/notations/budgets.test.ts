import { describe, expect, it } from 'vitest';
import { agentfileOf } from '../../src/notations/agentfile/convert/to-agentfile.js';
import { treeCode } from '../../src/notations/agentfile/convert/to-code.js';
import { loadWorkflowText } from '../../src/yaml.js';
import { graph } from '../../src/graph.js';
import { agent, convergence, goal, sequence, workflow } from '../../src/tree.js';
import { definitionOf } from '../../src/tree/objects.js';
import { validatePack } from '../../src/machine.js';
import { toMermaid } from '../../src/index.js';
import { limitsOf } from '../../src/budget/limits.js';
import type { Problem } from '../../src/base/problem.js';
import { schemaSays } from '../schemas/judging.js';
import { parseYaml } from '../../src/text/yaml.js';
import { toJson } from '../../src/text/nodes.js';

const said = (problems: readonly Problem[]): readonly string[] =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(({ code, at, message }) => `${at?.line}:${at?.column} ${code}: ${message}`);

const DAG = (budget: string, ofStep = '1-call'): string => `name: d
budget: ${budget}
agents: { w: { inline: { prompt: You write. } } }
steps:
  - { id: a, agent: w, prompt: Hi, budget: ${ofStep} }
`;
const PIPELINE = (budget: string, ofStep = '1-call'): string => `agents: { w: { instruction: You write. } }
budget: ${budget}
workflow:
  - { id: a, type: agent, name: w }
  - { id: each, type: map, over: "{{ $steps.a.output }}", budget: ${ofStep}, steps: [{ id: b, type: agent, name: w }] }
`;
const PACK = (budget: string, ofState = '"1-call"'): string =>
  JSON.stringify({
    id: 'p',
    name: 'p',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { a: { id: 'a', name: 'a', version: '1.0.0', system_template: 'You help.' } },
    workflow: { version: 1, entry: 's', states: { s: { prompt_task: 'a' } }, engine: { skein: '$' } },
  }).replace('"$"', `{ "budget": ${budget}, "states": { "s": { "budget": ${ofState} } } }`);
const AGENTFILE = (budget: string, ofGoal = '1-call'): string =>
  `NAME f\nBUDGET ${budget}\nAGENT w "You write." BUDGET 0.10\nGOAL a "Write." USING w BUDGET ${ofGoal}\nRUN main USING a\n`;

const limitsIn = async (text: string): Promise<readonly unknown[]> => {
  const { plan, problems } = await loadWorkflowText(text, {
    cwd: '/tmp',
    file: text.startsWith('NAME') ? 'Agentfile' : 'f',
  });
  expect(said(problems)).toEqual([]);
  return limitsOf(plan ?? never()).map(({ name, budget }) => [name, budget]);
};
const never = (): never => {
  throw new Error('no plan');
};

const WHOLE =
  '{ "usd": 0.5, "tokens": "200k", "calls": 20, "tool_calls": "1k", "time": "10m", "on_limit": { "model": "a/b" }, "unpriced": "allow", "strict": true, "day": { "usd": 5 }, "thread": { "calls": 9 } }';
const DATA = {
  usd: 0.5,
  tokens: 200_000,
  calls: 20,
  toolCalls: 1_000,
  time: 600_000,
  onLimit: { model: 'a/b' },
  unpriced: 'allow',
  strict: true,
  day: { usd: 5 },
  thread: { calls: 9 },
};

describe('a budget stands in every notation', () => {
  it('of files: of the workflow and of a step, as a number, a text or a map', async () => {
    expect(await limitsIn(DAG('0.50'))).toEqual([
      ['run', { usd: 0.5 }],
      ['step a', { calls: 1 }],
    ]);
    expect(await limitsIn(PIPELINE('200k-tokens, 10m', '{usd: 0.1, on_limit: stop}'))).toEqual([
      ['run', { tokens: 200_000, time: 600_000 }],
      ['step each', { usd: 0.1, onLimit: 'stop' }],
    ]);
    expect(await limitsIn(PACK('0.5'))).toEqual([
      ['run', { usd: 0.5 }],
      ['step state.s', { calls: 1 }],
    ]);
    expect(await limitsIn(AGENTFILE('$0.50, 20-calls', '"1k-tokens, 2-tool-calls"'))).toEqual([
      ['run', { usd: 0.5, calls: 20 }],
      ['step a', { tokens: 1_000, toolCalls: 2 }],
      ['step a/w', { usd: 0.1 }],
    ]);
    for (const text of [DAG(WHOLE), PIPELINE(WHOLE), PACK(WHOLE)])
      expect((await limitsIn(text))[0]).toEqual(['run', DATA]);
  });

  it('of code: graphs and their nodes, trees and their goals, convergences and agents', () => {
    const flow = graph({ budget: '2-calls' }).node('a', () => 1, { budget: 0.5 });
    expect(limitsOf(flow.compile().plan).map(({ name, budget }) => [name, budget])).toEqual([
      ['run', { calls: 2 }],
      ['step a', { usd: 0.5 }],
    ]);
    const tree = workflow('t')
      .budget(1)
      .add(
        sequence('main').steps(
          goal('a', 'Write.').using(agent('w', 'You write.').budget('5-calls')).budget('1k-tokens'),
          convergence('c', 'Shorten $a.', 3).budget({ usd: 0.2, onLimit: 'ask' }),
        ),
      );
    const { plan, problems } = tree.compile();
    expect(problems).toEqual([]);
    expect(limitsOf(plan ?? never()).map(({ name, budget }) => [name, budget])).toEqual([
      ['run', { usd: 1 }],
      ['step a', { tokens: 1_000 }],
      ['step a/w', { calls: 5 }],
      ['step c', { usd: 0.2, onLimit: 'ask' }],
    ]);
  });

  it('in code that can not be read is a problem before anything runs', () => {
    const flow = graph({ budget: '2-coins' }).node('a', () => 1, { budget: 0 });
    expect(() => flow.compile()).toThrow('budget is not a budget: "2-coins" has an unknown unit');
    expect(() => flow.compile()).toThrow('nodes[0].budget is not a budget: "0" is not above zero');
    const tree = workflow('t')
      .budget('-1')
      .add(sequence('main').steps(goal('a', 'Write.').budget('x')));
    expect(tree.validate().map(({ path }) => path)).toEqual(['nodes[0].budget', 'budget']);
  });

  it('is shown by drawings', async () => {
    const { plan } = await loadWorkflowText(PIPELINE('1', '{usd: 0.1, on_limit: stop}'), { cwd: '/tmp' });
    expect(toMermaid(plan ?? never())).toContain('budget $0.10, then stop'.replace('$', '#36;'));
  });

  it('stays when a tree becomes an Agentfile or a module, or an Agentfile becomes a module', () => {
    const budgeted = goal('a', 'Write.').budget('1.5k-tokens, 10m');
    const tree = definitionOf(workflow('t').budget(0.5).add(sequence('main').steps(budgeted)));
    const [file] = agentfileOf(tree, {}).files;
    expect(file?.text).toContain('BUDGET $0.50\n');
    expect(file?.text).toContain('GOAL a "Write." BUDGET 1500-tokens, 600000ms\n');
    const code = treeCode(tree, {}, { path: 'f', text: '' });
    expect(code).toContain("goal('a', 'Write.').budget({ tokens: 1500, time: 600000 })");
    expect(code).toContain("workflow('t').budget({ usd: 0.5 })");
    const beyond = definitionOf(
      workflow('t')
        .budget({ usd: 1, onLimit: 'stop' })
        .add(sequence('m').steps(goal('a', 'b'))),
    );
    expect(agentfileOf(beyond, {}).problems).toMatchObject([
      { code: 'not-in-agentfile', message: "the budget of the workflow: an Agentfile can't say onLimit" },
    ]);
  });
});

const BAD: readonly (readonly [budget: string, code: string, message: RegExp])[] = [
  ['0', 'out-of-range', /budget must be from 0\.000001 to 1000000, not 0/],
  ['-0.5', 'out-of-range', /not -0\.5/],
  ['true', 'wrong-type', /budget must be dollars, a text such as 200k-tokens, or a map/],
  ['[1]', 'wrong-type', /budget must be dollars/],
  ['"5-coins"', 'bad-budget', /"5-coins" has an unknown unit/],
  ['"+0.50"', 'bad-budget', /"\+0\.50" adds to no budget/],
  ['""', 'bad-budget', /"" is not an amount/],
  ['{ }', 'bad-budget', /budget limits nothing/],
  ['{ "usd": 0 }', 'out-of-range', /usd of budget must be from/],
  ['{ "usd": "1" }', 'wrong-type', /usd of budget must be a number/],
  ['{ "tokens": "1.2345k" }', 'bad-budget', /tokens of budget must be a whole number from 1 to/],
  ['{ "tokens": "many" }', 'bad-budget', /tokens of budget must be a whole number/],
  ['{ "calls": 0 }', 'bad-budget', /calls of budget must be a whole number from 1/],
  ['{ "calls": "" }', 'bad-budget', /calls of budget must be a whole number/],
  ['{ "time": "10" }', 'bad-duration', /time of budget is "10"/],
  ['{ "time": 10 }', 'bad-duration', /time of budget is "10"/],
  ['{ "usd": 1, "call": 2 }', 'unknown-key', /unknown key "call" in budget/],
  ['{ "usd": 1, "on_limit": "wait" }', 'unknown-value', /on_limit of budget must be pause, stop, ask or/],
  ['{ "usd": 1, "on_limit": {} }', 'missing-model', /on_limit of budget names no model/],
  ['{ "usd": 1, "unpriced": "deny" }', 'unknown-value', /unpriced of budget must be allow/],
  ['{ "usd": 1, "strict": "yes" }', 'wrong-type', /strict of budget must be true or false/],
  ['{ "usd": 1, "day": { "time": "1m" } }', 'unknown-key', /unknown key "time" in day of budget/],
  ['{ "day": { } }', 'bad-budget', /day of budget limits nothing/],
  ['{ "day": 5 }', 'wrong-type', /day of budget must be a map/],
];

describe('a budget that is not one is a problem with its place', () => {
  it.each(BAD)(
    '%s, in a DAG workflow and in a pipeline, where the JSON Schema says so too',
    async (budget, code, message) => {
      for (const [name, text] of [['dag', DAG(budget)] as const, ['pipeline', PIPELINE(budget)] as const]) {
        const { problems } = await loadWorkflowText(text, { cwd: '/tmp' });
        const errors = said(problems);
        expect(errors.join('\n')).toMatch(message);
        expect(errors.join('\n')).toMatch(new RegExp(`^2:\\d+ ${code}: `, 'm'));
        const { root } = parseYaml(text, 'f');
        const isBeyond = ['"1.2345k"'].some((one) => budget.includes(one));
        expect(schemaSays(name, root && toJson(root)).length > 0).toBe(!isBeyond);
      }
    },
  );

  it('of a step, where it limits what belongs to the workflow', async () => {
    const { problems } = await loadWorkflowText(DAG('1', '{ usd: 1, day: { usd: 5 } }'), { cwd: '/tmp' });
    expect(said(problems)).toEqual([
      '5:59 bad-budget: day of budget of step "a" limits all runs of a workflow, not a step',
    ]);
  });

  it('in a pack, by its form or by what it says', () => {
    const problems = validatePack(PACK('"0.5, 0.6"', '{ "tokens": "0k" }'));
    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'bad-budget: budget of workflow.engine.skein: dollars are limited twice',
      'bad-budget: tokens of budget of the state "s" must be a whole number from 1 to 1000000000000, not "0k"',
    ]);
    expect(validatePack(PACK('-1'))[0]).toMatchObject({ code: 'wrong-form' });
  });

  it.each([
    ['0', '2:1 bad-budget: BUDGET: "0" is not above zero'],
    ['', '2:1 bad-budget: BUDGET: "" is not an amount'],
    ['0.50, 5-coins', '2:1 bad-budget: BUDGET: "5-coins" has an unknown unit'],
    ['+0.50', '2:1 bad-budget: BUDGET: it adds to no budget'],
    ['0.50 calls', '2:13 unexpected: "calls" has no meaning here'],
  ])('in an Agentfile: BUDGET %s', async (budget, problem) => {
    const { problems } = await loadWorkflowText(AGENTFILE(budget), { cwd: '/tmp', file: 'Agentfile' });
    expect(said(problems)).toEqual([problem]);
  });
});
