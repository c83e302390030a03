import { runInThisContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/base/json.js';
import { definitionOf as digestOf } from '../../../src/engine/durable/identity.js';
import { compile } from '../../../src/engine/graph/compile.js';
import type { CompiledPlan } from '../../../src/engine/graph/compile.js';
import { convertAgentfile, convertTree } from '../../../src/converting.js';
import { memoryStore, runWorkflow } from '../../../src/index.js';
import type { SkeinEvent } from '../../../src/index.js';
import { compileTree } from '../../../src/notations/tree/compile.js';
import type { Bindings, Plan } from '../../../src/plan/plan.js';
import { agent, convergence, goal, sequence, workflow } from '../../../src/tree.js';
import { definitionOf } from '../../../src/tree/objects.js';
import { defaultsOf } from '../../../src/tree/runtime.js';
import type { Runtime, Step, Workflow } from '../../../src/tree.js';
import { loadWorkflow } from '../../../src/yaml.js';
import { makeProject } from '../project.js';
import { agentfile, told } from './agentfiles.js';
import { cases } from '../../thorough.js';

const READING = ['read_file', 'list_dir', 'glob', 'grep'];

/** Whatever a model may be told, also what has a meaning in one of the two notations. */
const TEXTS = fc.oneof(
  fc.string({ maxLength: 20, unit: 'grapheme' }),
  fc.constantFrom(
    '"',
    '"""',
    'a\nb',
    '"""\nx\n"""',
    '\\n \\ \\"',
    'a\tb',
    '`${x}`',
    "it's",
    'a\r\nb',
    '# c',
    'GOAL x "y"',
    '{{x}}',
    '$5',
    '\u2028',
  ),
);

/** One that says something, and refers to nothing. */
const SAID = fc.array(TEXTS, { maxLength: 4 }).map((parts) => `Say ${parts.join(' ').replaceAll(/\$/g, '$$$$')}`);

const MODE = fc.constantFrom(undefined, 'supervise', 'unsupervised');

/** What a random tree is made of. */
const PARTS = fc.record({
  agents: fc.array(fc.record({ said: SAID, fields: fc.nat(2), model: fc.boolean(), tokens: fc.nat(2) }), {
    minLength: 3,
    maxLength: 3,
  }),
  goals: fc.array(
    fc.record({
      said: SAID,
      fields: fc.nat(2),
      using: fc.subarray([0, 1, 2]),
      within: fc.nat(3),
      mode: MODE,
      reads: fc.boolean(),
      careful: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  runs: fc.array(fc.record({ goals: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }), mode: MODE }), {
    minLength: 1,
    maxLength: 3,
  }),
  preset: TEXTS,
  mode: fc.constantFrom(undefined, 'supervise', 'superviseByHuman'),
  security: fc.constantFrom(undefined, 'paranoid', 'research'),
  model: fc.boolean(),
  tools: fc.subarray(['Write', 'Edit', 'bash', 'web_fetch']),
  reading: fc.subarray(READING),
  tokens: fc.nat(2),
});

type Parts = typeof PARTS extends fc.Arbitrary<infer T> ? T : never;

interface Made {
  readonly tree: Workflow;
  readonly runtime: Runtime;
}

function moded<T extends { supervise(): T; unsupervised(): T }>(object: T, mode: string | undefined): T {
  if (mode === undefined) return object;
  return mode === 'supervise' ? object.supervise() : object.unsupervised();
}

/** A tree that an Agentfile can say. */
function treeOf({ agents, goals, runs, preset, mode, security, model, tools, reading, tokens }: Parts): Made {
  const gated = mode === 'superviseByHuman';
  const makers = agents.map(({ said, fields, model: own, tokens: most }, at) => {
    const made = agent(`agent-${at}`, said).withOutputs(...['i', 'j'].slice(0, fields).map((name) => `${name}${at}`));
    const settings = most > 0 ? { settings: { maxOutputTokens: most } } : {};
    return own ? made.customize({ model: 'ollama/qwen3', ...settings }) : made;
  });
  const steps = goals.map(({ said, fields, using, within, mode: own, reads, careful }, at): Step => {
    const text = reads ? `${said} about $topic, $size.` : said;
    const made =
      within === 0
        ? goal(`goal_${at}`, text)
        : within === 3
          ? convergence(`goal_${at}`, text, 0).withinVar('size')
          : convergence(`goal_${at}`, text, within);
    if (careful) made.security('paranoid').endorse('person');
    const team = using.flatMap((index) => makers[index] ?? []);
    return moded(
      made.using(...team).withOutputs(...['x', 'y'].slice(0, fields).map((name) => `${name}${at}`)),
      gated ? undefined : own,
    );
  });
  const tree = workflow('random').input('topic', { name: 'size', default: '3' }, { name: 'more', default: preset });
  for (const [at, { goals: used, mode: own }] of runs.entries()) {
    const some = used.map((index) => steps[index % steps.length] ?? steps[0]).filter((step) => step !== undefined);
    const run = moded(sequence(`run${at}`).steps(...some), gated ? undefined : own);
    if (security !== undefined && at === 1) run.security('paranoid');
    tree.add(tokens === 0 ? run : run.customize({ settings: { maxOutputTokens: tokens } }));
  }
  if (mode !== undefined) tree[mode]();
  if (security !== undefined) tree.security(security).scope('the module on tokens');
  return { tree, runtime: { ...(model && { model: 'mock/echo' }), tools: [...reading, ...tools] } };
}

/** A plan: its data, and the digests of what its nodes do, by which a recorded run is resumed. */
interface Compared {
  /** Without the places and the notation that it was read from. */
  readonly data: Json;
  readonly digests: Readonly<Record<string, string>>;
}

async function planIn(cwd: string): Promise<Compared> {
  const loaded = await loadWorkflow('Agentfile', { cwd });
  if (loaded.plan === undefined) throw new Error(told(loaded).join('\n'));
  return compared(loaded.plan, loaded.bindings);
}

/** The plan that the tree itself runs as. */
function planOfTree({ tree, runtime }: Made): Compared {
  const { plan, bindings } = compileTree(definitionOf(tree), { defaults: defaultsOf(runtime) });
  if (plan === undefined) throw new Error('the tree has no plan');
  return compared(plan, bindings);
}

function compared(plan: Plan, bindings?: Bindings): Compared {
  const text = JSON.stringify(plan, (key, value: unknown) => (key === 'at' || key === 'notation' ? undefined : value));
  return { data: JSON.parse(text) as Json, digests: Object.fromEntries(digestsIn(compile(plan, bindings), '')) };
}

function digestsIn({ nodes }: CompiledPlan, path: string): readonly (readonly [string, string])[] {
  return nodes.flatMap((node) => [
    [path + node.id, digestOf(node)] as const,
    ...(node.sub === undefined ? [] : digestsIn(node.sub, `${path}${node.id}/`)),
  ]);
}

/** What the code of a module exports. */
function evaluated(code: string): Made {
  const body = code
    .replace(/^import .*$/m, '')
    .replace(/^export default /m, 'const tree = ')
    .replace(/^export const /m, 'const ');
  const make = runInThisContext(
    `(agent, convergence, goal, sequence, workflow) => {${body}\nreturn { tree, runtime }; }`,
  ) as (...constructors: readonly unknown[]) => Made;
  return make(agent, convergence, goal, sequence, workflow);
}

async function written({ tree, runtime }: Made): Promise<string> {
  const { files, problems } = convertTree({ tree, runtime });
  if (files.length === 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  return await makeProject(Object.fromEntries(files.map(({ name, text }) => [name, text])));
}

describe('skein convert', () => {
  it('[issue 14] a tree, its Agentfile, the code of that and its Agentfile have the same plan and the same digests', async () => {
    await fc.assert(
      fc.asyncProperty(PARTS, async (parts) => {
        const first = treeOf(parts);
        const cwd = await written(first);
        const plan = await planIn(cwd);
        expect(planOfTree(first)).toEqual(plan);
        const { code, problems } = await convertAgentfile('Agentfile', { cwd });
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
        const again = evaluated(code ?? '');
        expect(planOfTree(again)).toEqual(plan);
        expect(await planIn(await written(again))).toEqual(plan);
        expect(Object.keys(plan.digests).length).toBeGreaterThan(0);
      }),
      { numRuns: cases(30) },
    );
  });

  it('[issue 14] a run of an Agentfile is resumed with the tree in code that it was converted to: nothing runs again', async () => {
    const text =
      'NAME t\nAGENT w "Write plainly."\nGOAL a "Begin." -> title USING w\nCONVERGE b "Refine $a." WITHIN 2\nRUN main USING a, b\n';
    const cwd = await makeProject({ Agentfile: text });
    const store = memoryStore();
    const models = { env: {}, noProbe: true, mock: true } as const;
    const loaded = await loadWorkflow('Agentfile', { cwd });
    const asked: string[] = [];
    const listeners = [
      (event: SkeinEvent): void => {
        if (event.type === 'step.note' && event.note.kind === 'model.started' && event.replayed !== true)
          asked.push(event.path);
      },
    ];
    const options = { store, models, listeners };
    const { result } = await runWorkflow(loaded, { ...options, audit: false });
    const first = await result;
    expect([first.outcome, asked.splice(0)]).toEqual(['succeeded', ['a/w', 'b#1/b', 'b#2/b']]);
    const { tree, runtime } = evaluated((await convertAgentfile('Agentfile', { cwd })).code ?? '');
    const second = await tree.execute(runtime, {}, { ...options, fork: { run: first.runId } });
    expect([second.outcome, asked, second.outputs['b']]).toEqual(['succeeded', [], first.state['b']]);
  });

  it('[issue 14] comments of an Agentfile stand above what they stood above', async () => {
    const text = `# What it is for.\n${agentfile('# Who writes.\n# Plainly.\nAGENT w "W."\n\n# What is written.\nGOAL a "A." USING w')}`;
    const { code } = await convertAgentfile('Agentfile', { cwd: await makeProject({ Agentfile: text }) });
    expect(code).toMatch(/^\/\/ What it is for\.\nimport /);
    expect(code).toContain("// Who writes.\n// Plainly.\nconst agent_w = agent('w', 'W.');");
    expect(code).toContain("// What is written.\nconst goal_a = goal('a', 'A.').using(agent_w);");
  });

  it.each([
    [
      'an agent in a sequence',
      () => workflow('t').add(sequence('s').steps(agent('a', 'A.').task('Do it.'))),
      'a RUN names goals alone',
    ],
    [
      'a goal in a goal',
      () => workflow('t').add(sequence('s').steps(goal('a', 'A.').using(goal('b', 'B.')))),
      'only agents can be listed in USING, not goal b',
    ],
    [
      'a customized goal',
      () => workflow('t').add(sequence('s').steps(goal('a', 'A.').customize({ model: 'mock/echo' }))),
      "goal a: an Agentfile can't say model",
    ],
    [
      'a system context',
      () =>
        workflow('t').add(
          sequence('s').steps(goal('a', 'A.').using(agent('b', 'B.').customize({ systemContext: 'C.' }))),
        ),
      "agent b: an Agentfile can't say systemContext",
    ],
    ['a name with a blank', () => workflow('my flow').add(sequence('s').steps(goal('a', 'A.'))), 'workflow "my flow"'],
    ['a keyword as a name', () => workflow('t').add(sequence('s').steps(goal('GOAL', 'A.'))), 'goal "GOAL"'],
    [
      'strict outputs',
      () => workflow('t').add(sequence('s').steps(goal('a', 'A.').withOutputs('x', { strict: true }))),
      'strict outputs have no clause',
    ],
    [
      'a cap',
      () =>
        workflow('t')
          .input('n')
          .add(sequence('s').steps(convergence('a', 'A.', 0).withinVar('n', 7))),
      'the cap of withinVar has no clause',
    ],
  ])('[issue 14] %s, which an Agentfile cannot say, is a problem: nothing is left out silently', (_, make, message) => {
    const { files, problems } = convertTree({ tree: make() });
    expect(files).toEqual([]);
    expect(problems.map((problem) => problem.message).join('\n')).toContain(message);
  });

  it.each([undefined, 5, {}, goal('a', 'A.')])('what is not a tree is told as such', (tree) => {
    expect(convertTree({ tree }).problems).toMatchObject([{ message: 'the default export is not a tree' }]);
  });
});
