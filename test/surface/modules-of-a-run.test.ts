import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { counted, evaluated, imported, opened } from '../cli/support/evaluated.js';

const WORKFLOW = `name: two
agents:
  reader: { inline: { prompt: You read } }
  fixer: { inline: { prompt: You repair, tools: ['*'] } }
steps:
  - { id: one, agent: reader, prompt: read }
  - { id: two, agent: fixer, prompt: repair, depends_on: [one] }
`;
/** What knows of tools without being one. */
const ABOUT_TOOLS = [
  'catalogue',
  'compare-paths',
  'named-files',
  'provider',
  'provider-options',
  'stand-ins',
  'tool-input',
  'words',
];

/** Files of the build that a mock run opens. An await at the top of a module adds five. */
const MOST_FILES = 14;

/** The files of the build whose text matches. */
function builtFiles(pattern: RegExp): readonly string[] {
  const dist = resolve(import.meta.dirname, '../../dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /\.c?js$/.test(name));
  expect(files.length).toBeGreaterThan(MOST_FILES);
  return files.filter((name) => pattern.test(readFileSync(join(dist, name), 'utf8')));
}

const toolModules = (modules: readonly string[]): readonly string[] =>
  modules.flatMap((name) => /^src\/agent\/tools\/(.+)\.ts$/.exec(name)?.[1] ?? []);

const PIPELINE = `version: "2"
agents:
  root: { model: mock/echo, instruction: You read }
workflow:
  - { id: one, type: agent, name: root }
`;

/** The packages among the modules, and what else is loaded when it is first needed: `json-schema`. */
const packages = (modules: readonly string[]): readonly string[] => [
  ...new Set(
    modules.flatMap(
      (name) =>
        /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? /^dist\/packages\/(.+)\.cjs$/.exec(name)?.[1] ?? [],
    ),
  ),
];
/** The notations whose reader is among the modules. */
const notations = (modules: readonly string[]): readonly string[] =>
  modules.flatMap((name) => /^src\/notations\/(\w+)\/(?:load|build)\.ts$/.exec(name)?.[1] ?? []);
/** Rooms of which nothing is needed. */
const SELDOM =
  /^src\/(?:(?:agent\/mcp|cli\/modules|draw|lang\/json-schema|lang\/pattern|supervise(?!\/(?:supervisor|reconcile))|testing)\/|agent\/models\/(?:language-model|provider-packages|replaying)\.)/;
/** What reads the text of a policy. */
const POLICY_TEXTS = /^src\/(?:notations\/policy\/(?!policy-file)|text\/toml\.)/;
/** Rooms of runs that are recorded, but for what knows only of names. */
const RECORDED =
  /^src\/(engine\/durable\/recorded|runtime\/threads|journal|stores)\/(?!check-thread|thread-rows|overview-nodes)/;

/** What carries out runs: an import of `skein` has what checks them (with the names of their options), and what reads and writes records. */
const CARRYING =
  /^src\/(?:agent\/(?!model\.|tool\.|models\/registry-options\.)|engine\/(?:run\.|graph\/scope|steps\/(?!policies\/)|durable\/recorded\/recorded-durable)|runtime\/(?:launch|running|workflow-run|backends))/;

/** Rooms of what runs workflows. */
const RUNNING = /^src\/(?:agent|engine|journal|runtime|stores)\//;

describe('what a mock run evaluates', () => {
  it.each([
    ['dag', WORKFLOW],
    ['pipeline', PIPELINE],
  ])('of the %s notation is that notation, and the packages that read words and files', async (notation, text) => {
    const modules = await evaluated(['run', 'w.yaml', '--mock', '--no-store'], { 'w.yaml': text });
    expect(packages(modules)).toEqual(['commander', 'yaml']);
    expect(notations(modules)).toEqual([notation]);
    expect(modules.filter((name) => SELDOM.test(name))).toEqual([]);
    expect(modules.filter((name) => RECORDED.test(name))).toEqual([]);
    expect(modules.filter((name) => POLICY_TEXTS.test(name))).toEqual([]);
    expect(modules.filter((name) => /^src\/plan\/(builder|draw|envelope|mentions)\.ts/.test(name))).toEqual([]);
  });

  it('is in files of ASCII alone: a file with other characters takes twice the memory, and longer to compile', () => {
    expect(builtFiles(/\P{ASCII}/u)).toEqual([]);
  });

  it('is in files without literals that name a property of characters: V8 looks up all its characters whenever it reads one', () => {
    expect(builtFiles(/(?<!\\)\\p\{/i)).toEqual([]);
    expect(builtFiles(/new RegExp\("[^"\n]*\\\\p\{/).length).toBeGreaterThan(5);
  });

  it('is what reads policies too where there is one', async () => {
    const files = { 'w.yaml': WORKFLOW, 'skein.policy.yaml': 'deny: [shell]\n' };
    const modules = await evaluated(['run', 'w.yaml', '--mock', '--no-store'], files);
    expect(modules).toContain('src/notations/policy/read-policy.ts');
  });

  it('stands in few files: opening one takes longer than reading code that is not needed', async () => {
    const scripts = await counted(['run', 'w.yaml', '--mock', '--no-store'], { 'w.yaml': WORKFLOW });
    expect(new Set(scripts.map(({ file }) => file)).size).toBeLessThanOrEqual(MOST_FILES);
  });

  it('is what it is recorded with where it has a store, and nothing that tells of recorded runs', async () => {
    const modules = await evaluated(['run', 'w.yaml', '--mock'], { 'w.yaml': WORKFLOW });
    expect(modules).toContain('src/engine/durable/recorded/recorded-durable.ts');
    expect(modules.filter((name) => SELDOM.test(name))).toEqual([]);
    expect(
      modules.filter((name) => /^src\/journal\/(overview|run-list|run-reader|pruning|answering)\.ts/.test(name)),
    ).toEqual([]);
  });

  it('is the evaluator of JSON Schemas too where an answer must match one', async () => {
    const schema = 'structured_output: { name: n, schema: { type: object, required: [n] } }';
    const files = {
      'w.yaml': PIPELINE.replace('instruction: You read', `instruction: You read, ${schema}`),
      'script.yaml': `rules: [{ step: one, answer: '{"n":1}' }]`,
    };
    const args = ['run', 'w.yaml', '--mock=script.yaml', '--no-store'];
    expect(packages(await evaluated(args, files)).toSorted()).toEqual(['commander', 'json-schema', 'yaml']);
  });

  it('is supervision too where a step is supervised', async () => {
    const text = WORKFLOW.replace('prompt: repair', 'prompt: repair, supervise: true');
    const modules = await evaluated(['run', 'w.yaml', '--mock', '--no-store'], { 'w.yaml': text });
    expect(modules).toContain('src/supervise/phases.ts');
  });

  it('is the expression language too where it has a condition', async () => {
    const text = WORKFLOW.replace('prompt: repair', "prompt: repair, condition: { cel: '1 < 2' }");
    const modules = await evaluated(['run', 'w.yaml', '--mock', '--no-store'], { 'w.yaml': text });
    expect(packages(modules)).toEqual(['cel', 'commander', 'yaml']);
  });

  it('[15] is the table of prices only where an agent names a model', async () => {
    const prices = async (text: string): Promise<boolean> =>
      (await evaluated(['run', 'w.yaml', '--mock'], { 'w.yaml': text })).includes('src/budget/prices.ts');
    expect(await prices(WORKFLOW)).toBe(false);
    expect(await prices(WORKFLOW.replace('prompt: You read', 'prompt: You read, model: openai/gpt-5-mini'))).toBe(true);
  });

  it('is no code of tools, whatever tools its agents have', async () => {
    const modules = await evaluated(['run', 'w.yaml', '--mock'], { 'w.yaml': WORKFLOW });
    expect(modules).toContain('src/agent/tools/catalogue.ts');
    expect(toolModules(modules).filter((name) => !ABOUT_TOOLS.includes(name))).toEqual([]);
  });

  it('and of a tool that its script calls, that code alone', async () => {
    const script = `rules:
  - { step: one, answers: [{ tools: [{ name: read_file, input: { path: w.yaml } }] }, read] }
  - { step: two, answer: repaired }
`;
    const args = ['run', 'w.yaml', '--mock=script.yaml'];
    const modules = toolModules(await evaluated(args, { 'w.yaml': WORKFLOW, 'script.yaml': script }));
    expect(modules).toContain('read-file');
    expect(modules).toContain('paths');
    for (const other of ['glob', 'grep', 'write-file', 'edit-file', 'shell', 'fetch']) {
      expect(modules).not.toContain(other);
    }
  });
});

describe('what an import evaluates', () => {
  it.each(['skein', 'skein/graph', 'skein/sqlite', 'skein/testing'])('%s: no package', async (entry) => {
    const modules = await imported(`import '${entry}';`);
    expect(packages(modules)).toEqual([]);
    expect(notations(modules)).toEqual(entry === 'skein/graph' ? ['graph'] : []);
    expect(modules.filter((name) => SELDOM.test(name) && entry !== 'skein/testing')).toEqual([]);
  });

  it.each([
    ['skein', 8],
    ['skein/graph', 4],
  ])('%s: few files, at most %i', async (entry, most) => {
    expect((await opened(`import '${entry}';`)).length).toBeLessThanOrEqual(most);
  });

  it('skein/graph: nothing of what runs graphs, until one runs', async () => {
    const declared = `import { graph } from 'skein/graph';
      const flow = graph({ inputs: ['list'] }).node('count', ({ list }) => list.length).setEntry('count').compile();`;
    const running = (modules: readonly string[]): readonly string[] => modules.filter((name) => RUNNING.test(name));
    expect(running(await imported(declared))).toEqual([]);
    expect(running(await imported(`${declared} await flow.run({ list: [] });`))).toContain('src/engine/run.ts');
  });

  it.each(['run', 'runOrThrow'])('what loads for the first %s leaves its inputs as they were', async (method) => {
    const code = `import { graph } from 'skein/graph';
      const flow = graph({ inputs: ['list'] }).node('count', ({ list }) => list.length).setEntry('count');
      const [inputs, options] = [{ list: [1, 2] }, { runId: 'first' }];
      const started = flow.${method}(inputs, options);
      inputs.list.push(3);
      options.runId = 'second';
      const ended = await started;
      process.exitCode = (ended.state ?? ended).count === 2 && (ended.runId ?? 'first') === 'first' ? 0 : 1;`;
    expect(await imported(code)).toContain('src/engine/run.ts');
  });

  it('skein: nothing of what carries out runs, until one starts', async () => {
    const declared = `import { checkPlan, compile, definePlan, memoryStore, readRun, run, runWorkflow, startRun } from 'skein';
      const flow = definePlan({ name: 'f', inputs: ['list'], nodes: [{ id: 'a', kind: 'task', run: ({ list }) => ({ count: list.length }) }] });
      checkPlan(flow.plan, flow.bindings);
      const given = { inputs: { list: [1, 2] }, runId: 'first' };`;
    const carrying = (modules: readonly string[]): readonly string[] => modules.filter((name) => CARRYING.test(name));
    expect(carrying(await imported(declared))).toEqual([]);
    const started = [
      'await run(flow, given).result',
      'await run(flow, Object.assign(given, { store: memoryStore() })).result',
      'await startRun(compile(flow.plan, flow.bindings), given).result',
      'await (await runWorkflow({ ...flow, files: [], settings: {} }, given)).result',
    ];
    for (const start of started) {
      const code = `${declared}
        const started = (async () => ${start})();
        given.inputs.list.push(3);
        given.runId = 'second';
        const { outcome, state, runId } = await started;
        process.exitCode = outcome === 'succeeded' && state.count === 2 && runId === 'first' ? 0 : 1;`;
      expect(carrying(await imported(code))).toContain('src/engine/run.ts');
    }
  });

  it('what can not be copied is refused by the first run as by others', async () => {
    const code = `import { graph } from 'skein/graph';
      const flow = graph({ inputs: ['self'] }).node('a', ({ self }) => self).setEntry('a');
      const inputs = {};
      inputs.self = inputs;
      const told = [];
      for (let at = 0; at < 2; at += 1) told.push(JSON.stringify((await flow.run(inputs)).error));
      process.exitCode = told[0] !== undefined && told[0] === told[1] ? 0 : 1;`;
    expect(await imported(code)).toContain('src/engine/run.ts');
  });

  it('the parser of JavaScript comes with the first function that must be read', async () => {
    const modules = await imported(`import { graph } from 'skein/graph';
      await graph().node('a', ({ n = 1 }) => n).run({});`);
    expect(packages(modules)).toEqual(['acorn']);
  });
});

test('a plan is analysed, checked and compiled once in a process', async () => {
  const scripts = await counted(['run', 'w.yaml', '--mock'], { 'w.yaml': WORKFLOW });
  // Functions of other modules that have these names are not called here.
  const calls = (name: string): number =>
    scripts
      .flatMap(({ functions }) => functions.filter(({ functionName }) => functionName === name))
      .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  expect([calls('shapeOf'), calls('problemsOf'), calls('compilePlan')]).toEqual([1, 1, 1]);
});
