import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { definePlan, checkPlan } from '../../src/index.js';
import { graph } from '../../src/graph.js';
import { agentfileOf } from '../../src/notations/agentfile/convert/to-agentfile.js';
import { treeCode } from '../../src/notations/agentfile/convert/to-code.js';
import { DECLARED } from '../../src/plan/declarations.js';
import type { Plan } from '../../src/plan/plan.js';
import { powersOf } from '../../src/plan.js';
import { agent, goal, sequence, workflow } from '../../src/tree.js';
import { definitionOf } from '../../src/tree/objects.js';
import { loadWorkflow, loadWorkflowText } from '../../src/yaml.js';
import { makeProject as project } from './project.js';

const SEND = { tool: 'kit/comment', fixed: { repo: 'acme/web', pr: '{{pr}}' }, free: ['body'] };
const WHOLE = { hosts: ['api.example.com', '*.example.org:8080'], commands: [['npm', 'test']], sends: [SEND] };
const json = (value: object): string => JSON.stringify(value).slice(1, -1);
const lines = (value: object): string =>
  Object.entries(value)
    .map(([key, one]) => `${key}: ${JSON.stringify(one)}\n`)
    .join('');

const DAG = (declared: object, inputs = 'pr: {}'): string =>
  `name: d\ninputs: { ${inputs} }\n${lines(declared)}agents: { w: { inline: { prompt: p } } }\nsteps: [{ id: a, agent: w, prompt: Hi }]\n`;
const PIPELINE = (declared: object): string =>
  `agents: { w: { instruction: p } }\n${lines(declared)}workflow: [{ type: agent, name: w }]\n`;
const PACK = (declared: object, isMachine = true): string =>
  `{ "id": "p", "name": "p", "version": "1.0.0", "template_engine": { "version": "v1", "syntax": "{{variable}}" },
  "prompts": { "a": { "id": "a", "name": "a", "version": "1.0.0", "system_template": "You help." } }, ${
    isMachine
      ? `"workflow": { "version": 1, "entry": "s", "states": { "s": { "prompt_task": "a" } }, "engine": { "skein": {\n${json(declared)} } } }`
      : `"metadata": { "skein": {\n${json(declared)} } }`
  } }`;
const AGENTFILE = 'NAME f\nINPUT pr\nGOAL a "Comment on $pr."\nRUN main USING a\n';
const TOML = `hosts = ["api.example.com", "*.example.org:8080"]
commands = [["npm", "test"]]
sends = [{ tool = "kit/comment", fixed = { repo = "acme/web", pr = "{{pr}}" }, free = ["body"] }]
`;

const declaredIn = (plan: Plan | undefined): object =>
  Object.fromEntries(DECLARED.flatMap((key) => (plan?.[key] === undefined ? [] : [[key, plan[key]]])));
const said = (problems: readonly Problem[]): readonly string[] =>
  problems.filter(({ severity }) => severity === 'error').map(({ code, at }) => `${at?.line}:${at?.column} ${code}`);

const NO_INPUT = { ...WHOLE, sends: [{ ...SEND, fixed: { repo: 'acme/web' } }] };

describe('hosts, commands and sends', () => {
  it.each([
    ['a DAG', DAG(WHOLE), WHOLE],
    ['a pipeline', PIPELINE(NO_INPUT), NO_INPUT],
    [
      'a pipeline, with its prompt',
      PIPELINE({ sends: [{ tool: 'kit/say', fixed: { text: '{{prompt}}' } }] }),
      undefined,
    ],
    ['a pack', PACK(NO_INPUT), NO_INPUT],
    ['a pack without a workflow', PACK(NO_INPUT, false), NO_INPUT],
  ])('stand in the plan of %s', async (_, text, wanted) => {
    const { plan, problems } = await loadWorkflowText(text, { cwd: '/tmp', file: 'f' });
    expect(said(problems)).toEqual([]);
    expect(declaredIn(plan)).toEqual(wanted ?? { sends: [{ tool: 'kit/say', fixed: { text: '{{prompt}}' } }] });
  });

  it.each(['fixed', 'free'])('%s without a value is as if it were not there', async (key) => {
    const { problems, plan } = await loadWorkflowText(DAG({ sends: [{ tool: 'kit/comment', [key]: null }] }), {
      cwd: '/',
    });
    expect(problems).toEqual([]);
    expect(plan?.sends).toEqual([{ tool: 'kit/comment' }]);
  });

  it('stand in the plan of an Agentfile, from agent.toml', async () => {
    const cwd = await project({ Agentfile: AGENTFILE, 'agent.toml': TOML });
    const { plan, problems } = await loadWorkflow('Agentfile', { cwd });
    expect(said(problems)).toEqual([]);
    expect(declaredIn(plan)).toEqual(WHOLE);
  });

  it('stand in the plans of code', () => {
    const flow = graph({ ...WHOLE, inputs: ['pr'] }).node('a', () => 1);
    expect(declaredIn(flow.compile().plan)).toEqual(WHOLE);
    const tree = workflow('t')
      .input('pr')
      .hosts(...WHOLE.hosts)
      .commands(...WHOLE.commands)
      .sends(SEND)
      .add(sequence('main').steps(goal('a', 'Comment on $pr.').using(agent('w', 'You write.'))));
    expect(declaredIn(tree.compile().plan)).toEqual(WHOLE);
    const { plan } = definePlan({ name: 'p', ...WHOLE, inputs: ['pr'], nodes: [{ id: 'a', run: () => 1 }] });
    expect(declaredIn(plan)).toEqual(WHOLE);
  });

  it('are kept when a tree is converted and read again', async () => {
    const tree = workflow('t')
      .input('pr')
      .hosts(...WHOLE.hosts)
      .commands(...WHOLE.commands)
      .sends(SEND)
      .add(sequence('main').steps(goal('a', 'Comment on $pr.')));
    const definition = definitionOf(tree);
    const { files, problems } = agentfileOf(definition, {});
    expect(problems).toEqual([]);
    const cwd = await project(Object.fromEntries(files.map(({ name, text }) => [name, text])));
    expect(declaredIn((await loadWorkflow('Agentfile', { cwd })).plan)).toEqual(WHOLE);
    const code = treeCode(definition, {}, { path: 'Agentfile', text: '' });
    expect(code).toContain(
      '.hosts("api.example.com", "*.example.org:8080")'.replaceAll('"', code.includes(".hosts('") ? "'" : '"'),
    );
    const none = agentfileOf({ ...definition, sends: [{ tool: 'kit/a', fixed: { a: null } }] }, {});
    expect(none.problems.map(({ message }) => message).join()).toContain("agent.toml can't say null");
  });

  it.each([
    ['hosts: [https://example.com]', '3:9 bad-host'],
    ['hosts: ["*"]', '3:9 bad-host'],
    ['hosts: ["exa*mple.com"]', '3:9 bad-host'],
    ['hosts: [example.com/path]', '3:9 bad-host'],
    ['hosts: example.com', '3:8 wrong-type'],
    ['hosts: [{}]', '3:9 wrong-type'],
    ['commands: [npm test]', '3:12 wrong-type'],
    ['commands: [[]]', '3:12 bad-command'],
    ['commands: [["", x]]', '3:12 bad-command'],
    ['commands: [[npm, {}]]', '3:18 wrong-type'],
    ['sends: [kit/a]', '3:9 wrong-type'],
    ['sends: [{ tool: "kit/*" }]', '3:9 bad-send'],
    ['sends: [{ free: [a] }]', '3:9 missing-tool'],
    ['sends: [{ tool: kit/a, fixed: { a: 1 }, free: [a] }]', '3:9 bad-send'],
    ['sends: [{ tool: kit/a, fixed: [a] }]', '3:31 wrong-type'],
    ['sends: [{ tool: kit/a, fixed: { a: { b: ["x {{other}}"] } } }]', '3:9 unknown-input'],
    ['sends: [{ tool: kit/a, feed: [a] }]', '3:24 unknown-key'],
  ])('%s is a problem with its place', async (line, wanted) => {
    const text = `name: d\ninputs: { pr: {} }\n${line}\nagents: { w: { inline: { prompt: p } } }\nsteps: [{ id: a, agent: w, prompt: Hi }]\n`;
    expect(said((await loadWorkflowText(text, { cwd: '/tmp', file: 'f' })).problems)).toEqual([wanted]);
  });

  it.each([
    ['a DAG', DAG],
    ['a pipeline', PIPELINE],
  ])('take names that are written as a number or a boolean for their texts: %s', async (_, file) => {
    const text = file({ sends: [{ tool: false, fixed: { a: 7 }, free: [true, 3] }] });
    const { plan, problems } = await loadWorkflowText(text, { cwd: '/tmp', file: 'f' });
    expect(said(problems)).toEqual([]);
    expect(plan?.sends).toEqual([{ tool: 'false', fixed: { a: 7 }, free: ['true', '3'] }]);
  });

  it('are checked in plan data of any source, too', () => {
    const { plan } = definePlan({ name: 'p', inputs: ['pr'], nodes: [{ id: 'a', run: () => 1 }] });
    const codes = (declared: object): readonly string[] =>
      checkPlan({ ...plan, ...declared }).map(({ code, path }) => `${code} ${path}`);
    expect(codes({ hosts: ['http://a'], sends: [{ tool: 'x', fixed: { a: '{{q}}' } }] })).toEqual([
      'bad-host hosts[0]',
      'unknown-input sends[0]',
    ]);
    expect(codes({ sends: [{ tool: 7 }] })).toEqual(['bad-plan sends[0].tool']);
    expect(codes({ commands: 'npm' })).toEqual(['bad-plan commands']);
  });

  it('of a called workflow say that they do not count', () => {
    const inner = definePlan({ name: 'inner', hosts: ['example.com'], nodes: [{ id: 'a', run: () => 1 }] }).plan;
    const { plan } = definePlan({ name: 'outer', nodes: [{ id: 'b', run: () => 1 }] });
    const problems = checkPlan({ ...plan, nodes: [{ id: 'b', kind: 'call', plan: inner }] });
    expect(problems.map(({ code, severity, message }) => `${severity} ${code}: ${message}`)).toEqual([
      'warning no-effect: what the called workflow inner declares of calls counts only where it is run by itself',
    ]);
  });

  it('are powers', async () => {
    const { plan } = await loadWorkflowText(DAG(WHOLE), { cwd: '/tmp', file: 'f' });
    expect(plan && powersOf(plan).map(({ kind, what, why }) => `${kind} ${what} (${why})`)).toEqual([
      'allows api.example.com (declared host)',
      'allows *.example.org:8080 (declared host)',
      'allows npm test (declared command)',
      'allows kit/comment with repo "acme/web", pr "{{pr}}"; free: body (declared call)',
    ]);
  });
});
