import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problem.js';
import { graph } from '../../src/graph.js';
import { estimateCalls, toMermaid } from '../../src/index.js';
import { validatePack } from '../../src/machine.js';
import { agentfileOf } from '../../src/notations/agentfile/convert/to-agentfile.js';
import { treeCode } from '../../src/notations/agentfile/convert/to-code.js';
import { nodesOf } from '../../src/plan/nodes.js';
import type { Plan } from '../../src/plan/plan.js';
import { securityText } from '../../src/plan/security.js';
import { securityAt } from '../../src/plan/security-at.js';
import { toJson } from '../../src/text/nodes.js';
import { parseYaml } from '../../src/text/yaml.js';
import { agent, convergence, goal, sequence, workflow } from '../../src/tree.js';
import { definitionOf } from '../../src/tree/objects.js';
import { loadWorkflow, loadWorkflowText } from '../../src/yaml.js';
import { schemaSays } from '../schemas/judging.js';
import { makeProject } from './project.js';

const said = (problems: readonly Problem[]): readonly string[] =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(({ code, at, message }) => `${at?.line}:${at?.column} ${code}: ${message}`);

const DAG = (security: string, ofStep = 'paranoid'): string => `name: d
security: ${security}
agents: { w: { inline: { prompt: You write. } } }
steps:
  - { id: a, agent: w, prompt: Hi, security: ${ofStep} }
  - { id: b, agent: w, prompt: Hi }
  - { id: c, type: loop, max_rounds: 2, until: { line: DONE }, security: ${ofStep}, steps: [{ id: d, agent: w, prompt: Hi }] }
`;
const PIPELINE = (security: string, ofStep = 'paranoid'): string => `agents: { w: { instruction: You write. } }
security: ${security}
workflow:
  - { id: a, type: agent, name: w, security: ${ofStep} }
  - { id: b, type: agent, name: w }
  - { id: c, type: map, over: "{{ $steps.a.output }}", security: ${ofStep}, steps: [{ id: d, type: agent, name: w }] }
`;
const PACK = (security: string, ofState = '"paranoid"'): string =>
  JSON.stringify({
    id: 'p',
    name: 'p',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { w: { id: 'w', name: 'w', version: '1.0.0', system_template: 'You help.' } },
    workflow: {
      version: 2,
      entry: 'a',
      states: {
        a: { prompt_task: 'w', on_event: { On: 'b' } },
        b: { prompt_task: 'w', on_event: { On: 'c' } },
        c: { orchestration: 'composition', composition: 'flow', on_event: { On: 'end' } },
        end: { prompt_task: 'w', terminal: true },
      },
      engine: { skein: '$' },
    },
    compositions: {
      flow: { version: 1, engine: { skein: '$c' }, steps: [{ id: 'd', kind: 'prompt', prompt_task: 'w', input: 'x' }] },
    },
  })
    .replace('"$"', `{ "security": ${security}, "states": { "a": { "security": ${ofState} } } }`)
    .replace('"$c"', `{ "security": ${ofState} }`);
const AGENTFILE = (security: string, ofGoal = 'paranoid'): string => `NAME f
SECURITY ${security}
AGENT w "You write."
AGENT careful "You write." SECURITY ${ofGoal}
GOAL a "Write." USING w SECURITY ${ofGoal}
GOAL b "Write." USING w, careful
CONVERGE c "Write." USING w WITHIN 2
RUN main USING a, b
RUN rest USING c SECURITY ${ofGoal}
`;

/** What holds for the agents of a plan, by path. */
function heldIn(plan: Plan | undefined): Readonly<Record<string, string | undefined>> {
  if (plan === undefined) throw new Error('no plan');
  const held = securityAt(plan);
  const agents = [...nodesOf(plan)].filter(({ node }) => node.kind === 'agent');
  return Object.fromEntries(
    agents.map(({ path }) => [
      path.replace(/^state\./, ''),
      held(path) && securityText(held(path) ?? { mode: 'default' }),
    ]),
  );
}

async function heldInText(text: string, file = 'f'): Promise<ReturnType<typeof heldIn>> {
  const { plan, problems } = await loadWorkflowText(text, { cwd: '/tmp', file });
  expect(said(problems)).toEqual([]);
  return heldIn(plan);
}

describe('the key security stands in every notation, on the whole and on any step', () => {
  it('of files: what is inside of a step has it, too', async () => {
    const all = { a: 'paranoid', b: 'default', 'c/d': 'paranoid' };
    expect(await heldInText(DAG('default'))).toEqual(all);
    expect(await heldInText(PIPELINE('default'))).toEqual(all);
    expect(await heldInText(PACK('"default"'))).toEqual({ ...all, end: 'default' });
    expect(await heldInText(AGENTFILE('default'), 'Agentfile')).toEqual({
      'a/w': 'paranoid',
      'b/w': 'default',
      'b/careful': 'paranoid',
      'b/synthesis': 'default',
      'c/w': 'paranoid',
    });
  });

  it('of files: research with what may be investigated, and the model that judges', async () => {
    const research = '{ "mode": "research", "scope": " the parser ", "model": "openai/gpt-5-mini" }';
    const text = 'research into "the parser", judged by openai/gpt-5-mini';
    expect((await heldInText(DAG(research)))['b']).toBe(text);
    expect((await heldInText(PIPELINE(research)))['b']).toBe(text);
    expect((await heldInText(PACK(research)))['b']).toBe(text);
    expect((await heldInText(AGENTFILE('research "the parser"'), 'Agentfile'))['b/w']).toBe(
      'research into "the parser"',
    );
    const named = PIPELINE('{ mode: paranoid, model: judge }').replace(
      'security',
      'models: { judge: { provider: openai, model: gpt-5-mini } }\nsecurity',
    );
    expect((await heldInText(named))['b']).toBe('paranoid, judged by openai/gpt-5-mini');
  });

  it('of a pack without a workflow, in its notes', async () => {
    const { workflow: _, compositions: _c, ...pack } = JSON.parse(PACK('"default"')) as Record<string, object>;
    const text = JSON.stringify({ ...pack, metadata: { skein: { security: 'paranoid' } } });
    const cwd = await makeProject({ 'p.pack.json': text });
    const { plan } = await loadWorkflow('p.pack.json', { cwd, pack: { place: { prompt: 'w' } } as never });
    expect(Object.values(heldIn(plan))).toContain('paranoid');
  });

  it('of code: graphs and trees, with everything that stands in trees', () => {
    const flow = graph({ security: 'default' }).node('a', () => 1, { security: { mode: 'research', scope: 'x' } });
    expect(securityAt(flow.compile().plan)('a')).toEqual({ mode: 'research', scope: 'x' });
    const tree = workflow('t')
      .security('default')
      .add(
        sequence('careful')
          .security('paranoid')
          .steps(goal('a', 'Write.').using(agent('w', 'You write.'))),
        sequence('rest').steps(
          goal('b', 'Write.').using(agent('w', 'You write.').security({ mode: 'paranoid', model: 'own/judge' })),
          convergence('c', 'Shorten $a.', 3).security('research').scope(' the parser '),
          goal('d', 'Write.'),
        ),
      );
    const { plan, problems } = tree.compile();
    expect(problems).toEqual([]);
    expect(heldIn(plan)).toEqual({
      'a/w': 'paranoid',
      'b/w': 'paranoid, judged by own/judge',
      'c/c': 'research into "the parser"',
      d: 'default',
    });
  });

  it('[G9] of agent.toml, where the file may be stricter, and never less strict; research needs a scope', async () => {
    const held = async (toml: string, statement: string): Promise<unknown> => {
      const text = `NAME f\n${statement}\nGOAL a "Write."\nRUN main USING a\n`;
      const cwd = await makeProject({ Agentfile: text, 'agent.toml': `[security]\n${toml}\n` });
      const { plan, problems } = await loadWorkflow('Agentfile', { cwd });
      return plan === undefined ? said(problems) : heldIn(plan)['a'];
    };
    expect(await held('mode = "default"', '')).toBe('default');
    expect(await held('level = "paranoid"', 'SECURITY default')).toBe('paranoid');
    expect(await held('mode = "default"\nmodel = "gpt-5-mini"', 'SECURITY paranoid')).toBe(
      'paranoid, judged by openai/gpt-5-mini',
    );
    expect(await held('mode = "research"\nscope = "a"', '')).toBe('research into "a"');
    expect(await held('mode = "research"', '')).toEqual([expect.stringMatching(/^2:8 no-scope: /)]);
    expect(await held('mode = "research"\nscope = "a"', 'SECURITY research "b"')).toEqual([
      '2:1 lowered-security: SECURITY and the configuration disagree about what may be investigated',
    ]);
  });

  it('is shown by drawings and counted before a run', async () => {
    const plan = async (text: string): Promise<Plan> => {
      const loaded = await loadWorkflowText(text, { cwd: '/tmp' });
      return loaded.plan ?? expect.unreachable(said(loaded.problems).join('\n'));
    };
    const one = (security: string): string =>
      `name: d\n${security}agents: { w: { inline: { prompt: You write., tools: [read_file] } } }\nsteps:\n  - { id: a, agent: w, prompt: Hi }\n`;
    expect(toMermaid(await plan(DAG('default')))).toContain('security paranoid');
    const without = estimateCalls(await plan(one('')));
    const paranoid = estimateCalls(await plan(one('security: paranoid\n')));
    const most = Number(without.toolCalls.worst);
    expect(paranoid.modelCalls).toEqual({
      typical: without.modelCalls.typical + 2,
      worst: Number(without.modelCalls.worst) + 4 * 3 * most,
    });
    expect(estimateCalls(await plan(one('security: default\n'))).modelCalls.typical).toBe(without.modelCalls.typical);
  });

  it('stays when a tree becomes an Agentfile or a module', () => {
    const careful = goal('a', 'Write.').using(agent('w', 'You.').security('paranoid')).security('research').scope('x');
    const tree = definitionOf(
      workflow('t').security('default').add(sequence('main').security('default').steps(careful)),
    );
    const [file] = agentfileOf(tree, {}).files;
    expect(file?.text).toContain('\nSECURITY default\n');
    expect(file?.text).toContain('AGENT w "You." SECURITY paranoid\n');
    expect(file?.text).toContain('GOAL a "Write." USING w SECURITY research "x"\n');
    expect(file?.text).toContain('RUN main USING a SECURITY default\n');
    const code = treeCode(tree, {}, { path: 'f', text: '' });
    expect(code).toContain(".security({ mode: 'research', scope: 'x' })");
    expect(code).toContain("workflow('t').security('default')");
    const judged = workflow('t').security({ mode: 'paranoid', model: 'own/judge' });
    expect(agentfileOf(definitionOf(judged.add(sequence('m').steps(goal('a', 'b')))), {}).problems).toMatchObject([
      { code: 'not-in-agentfile', message: "the security of the workflow: an Agentfile can't say model" },
    ]);
  });
});

const BAD: readonly (readonly [security: string, code: string, message: RegExp])[] = [
  ['true', 'wrong-type', /security must be a mode or a map, not/],
  ['[paranoid]', 'wrong-type', /security must be a mode or a map, not a list/],
  ['5', 'wrong-type', /security must be a mode or a map/],
  ['paranoic', 'unknown-value', /security must be default, research, paranoid, not "paranoic"/],
  ['Paranoid', 'unknown-value', /not "Paranoid"/],
  ['""', 'unknown-value', /not ""/],
  ['research', 'no-scope', /security: security research needs a scope/],
  ['{ }', 'missing-mode', /security has no mode/],
  ['{ "mode": "" }', 'missing-mode', /security has no mode/],
  ['{ "mode": "research" }', 'no-scope', /needs a scope/],
  ['{ "mode": "research", "scope": " " }', 'no-scope', /needs a scope/],
  ['{ "mode": "paranoid", "scope": "x" }', 'unknown-key', /unknown key "scope" in security/],
  ['{ "mode": "paranoid", "modell": "a/b" }', 'unknown-key', /unknown key "modell" in security/],
  ['{ "mode": "off" }', 'unknown-value', /mode of security must be default, research, paranoid/],
];

describe('a security that is not one is a problem with its place', () => {
  it.each(BAD)(
    '%s, in a DAG workflow and in a pipeline, where the JSON Schema says so too',
    async (security, code, message) => {
      for (const [name, text] of [['dag', DAG(security)] as const, ['pipeline', PIPELINE(security)] as const]) {
        const errors = said((await loadWorkflowText(text, { cwd: '/tmp' })).problems);
        expect(errors.join('\n')).toMatch(message);
        expect(errors.join('\n')).toMatch(new RegExp(`^2:\\d+ ${code}: `, 'm'));
        const { root } = parseYaml(text, 'f');
        expect(schemaSays(name, root && toJson(root)).length).toBeGreaterThan(0);
      }
    },
  );

  it.each(['"paranoic"', '"research"', '{ "mode": "research" }', '5'])('in a pack: %s', (security) => {
    for (const text of [PACK(security), PACK('"default"', security)])
      expect(said(validatePack(text, { file: 'p.pack.json' })).length).toBeGreaterThan(0);
    expect(validatePack(PACK('"default"'), { file: 'p.pack.json' })).toEqual([]);
  });

  it('a step that is less careful than what is around it', async () => {
    for (const text of [DAG('paranoid', 'default'), PIPELINE('paranoid', 'default'), PACK('"paranoid"', '"default"')]) {
      const { problems } = await loadWorkflowText(text, { cwd: '/tmp' });
      expect(said(problems).filter((one) => one.includes('lowered-security')).length).toBe(2);
    }
    const { problems } = await loadWorkflowText(AGENTFILE('paranoid', 'default'), { cwd: '/tmp', file: 'Agentfile' });
    expect(said(problems)).toEqual([
      '4:7 lowered-security: agent careful: it has the security default where paranoid holds',
      '5:6 lowered-security: goal a: it has the security default where paranoid holds',
      '9:1 lowered-security: sequence rest: it has the security default where paranoid holds',
    ]);
  });
});
