import { describe, expect, test } from 'vitest';
import { makeProject, skein } from './support/skein.js';
import { served } from './support/served.js';

const GOOD = `import { graph } from 'skein/graph';
export default graph({ name: 'good' }).node('one', () => 1, { inputs: [] }).setEntry('one');
`;

/** What validate says of a module; it must be one that can't be used. */
async function refusal(file: string, files: Readonly<Record<string, string>>, how = served): Promise<string> {
  const end = await how(['validate', file], { cwd: await makeProject(files) });
  expect(end).toMatchObject({ code: 2, stdout: '' });
  expect(end.stderr).toMatch(/ is not valid: \d+ errors?\n$/);
  // Neither a stack nor a path of the program.
  expect(end.stderr).not.toMatch(/^ +at |node:internal|dist\/cli/m);
  return end.stderr;
}

describe('a module that can not be loaded is told in one message with its place:', () => {
  test.each<[string, string, Record<string, string>, string | RegExp]>([
    [
      'a syntax error in TypeScript',
      'flow.ts',
      { 'flow.ts': '// one\nconst x: = 1;\n' },
      /^flow\.ts:2:10: error module-syntax: Unexpected token `=`/,
    ],
    [
      'a syntax error in JavaScript',
      'flow.mjs',
      { 'flow.mjs': 'export {};\nconst x = ;\n' },
      /^flow\.mjs:2:11: error module-syntax: /,
    ],
    [
      'a syntax error in what it imports',
      'flow.ts',
      { 'flow.ts': "import './lib/a.ts';\n", 'lib/a.ts': '\n\nlet y: string = ;\n' },
      /^lib\/a\.ts:3:\d+: error module-syntax: /,
    ],
    [
      'a file that does not exist',
      'flow.ts',
      { 'flow.ts': `${GOOD}import { a } from './none.js';\nvoid a;\n` },
      /^flow\.ts:3:19: error module-import: Cannot find module '.*none\.js'\n/,
    ],
    [
      'a package that is not installed',
      'flow.ts',
      { 'flow.ts': "import '@scope/none/deep';\n" },
      "flow.ts:1:8: error module-import: Cannot find package '@scope/none'\n    hint: npm install @scope/none\n",
    ],
    [
      'a name that is not exported',
      'flow.ts',
      { 'flow.ts': "// one\nimport { none } from './a.ts';\nvoid none;\n", 'a.ts': 'export const a = 1;\n' },
      'flow.ts:2:10: error module-import: ./a.ts exports nothing called none\n    hint: it exports: a\n',
    ],
    [
      'a name that is not exported, below others, in JavaScript',
      'flow.mjs',
      {
        'flow.mjs': "import {\n  a,\n  depth as n,\n} from './a.ts';\nvoid [a, n];\n",
        'a.ts': 'export const a = 1;\nexport function deep() {}\n',
      },
      'flow.mjs:3:3: error module-import: ./a.ts exports nothing called depth\n    hint: it exports: a, deep\n',
    ],
    [
      'a name that a package does not export',
      'flow.ts',
      { 'flow.ts': "import { graph, none } from 'skein/graph';\nexport default graph().node('a', () => none);\n" },
      'flow.ts:1:17: error module-import: skein/graph exports nothing called none\n    hint: export it from skein/graph, or import another name\n',
    ],
    [
      'an error that it throws',
      'flow.ts',
      { 'flow.ts': 'const x: string = "a";\n\nthrow new RangeError(x);\n' },
      'flow.ts:3:7: error module-throws: the module throws RangeError: a\n',
    ],
    [
      'an error behind an enum, whose lines are written anew',
      'flow.ts',
      { 'flow.ts': 'enum Kind {\n  A,\n\n  B,\n}\n\nthrow new Error(String(Kind.B));\n' },
      'flow.ts:7:7: error module-throws: the module throws Error: 1\n',
    ],
    [
      'something else that it throws',
      'flow.mjs',
      { 'flow.mjs': 'throw "why";\n' },
      'flow.mjs:1:1: error module-throws: the module throws "why"\n',
    ],
    ['no file', 'none.ts', {}, 'none.ts:1:1: error file-missing: the workflow file none.ts does not exist\n'],
    [
      'what has to be compiled',
      'flow.tsx',
      { 'flow.tsx': GOOD },
      "flow.tsx:1:1: error module-kind: a workflow can't be in a file that ends in .tsx\n",
    ],
  ])('%s', async (_, file, files, expected) => {
    expect(await refusal(file, files)).toMatch(expected);
  });

  test('a promise that is never kept', async () => {
    // A process ends where nothing is left to wait for; one that serves others does not.
    const said = await refusal('flow.mjs', { 'flow.mjs': 'await new Promise(() => {});\n' }, skein);
    expect(said).toMatch('flow.mjs:1:1: error module-unsettled: the module never ends loading');
  });
});

describe('a module without a workflow is told what to export:', () => {
  test.each([
    [
      'nothing',
      'export {};\n',
      'the module has no default export\n    hint: end it with: export default FLOW, the graph',
    ],
    [
      'another name',
      GOOD.replace('default', 'const flow ='),
      'no default export\n    hint: end it with: export default flow\n',
    ],
    [
      'a function',
      'export default () => 1;\n',
      'the default export is a function, not a workflow\n    hint: export what it makes',
    ],
    [
      'a part of a tree',
      "import { goal } from 'skein/tree';\nexport default goal('g', 'Do.');\n",
      'the default export is a goal of a tree, not a workflow\n    hint: put it into one: export default workflow(',
    ],
    ['a list', 'export default [1];\n', 'the default export is a list, not a workflow'],
    ['null', 'export default null;\n', 'the default export is null, not a workflow'],
    ['an object', 'export default { a: 1 };\n', 'the default export is an object with a, not a workflow'],
  ])('%s', async (_, text, expected) => {
    const said = await refusal('flow.mjs', { 'flow.mjs': text });
    expect(said).toMatch(/^flow\.mjs:1:1: error module-export: /);
    expect(said).toContain(expected);
  });
});

describe('a definition that is wrong', () => {
  test('has all of its problems told, each with the file', async () => {
    const text = `import { graph } from 'skein/graph';
export default graph().addNode('a', () => null).addEdge('a', 'none').setEntry('start');
`;
    const said = await refusal('flow.mjs', { 'flow.mjs': text });
    const lines = said.split('\n').filter((line) => line.includes(' error '));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^flow\.mjs: /);
    expect(said).toMatch(/start[^]*none/);
  });

  test('and that was refused at once has the line of the call', async () => {
    const text = GOOD.replace('.setEntry', "\n  .node('one', () => 2, { inputs: [] })\n  .setEntry");
    expect(await refusal('flow.mjs', { 'flow.mjs': text })).toMatch(/^flow\.mjs:3:4: error duplicate-id: /);
  });

  test('and that came from definePlan is checked, too', async () => {
    const text = `import { definePlan } from 'skein';
export default definePlan({ name: 'p', nodes: [{ id: 'a', run: () => 1 }], edges: [['a', 'b']] });
`;
    expect(await refusal('flow.mjs', { 'flow.mjs': text })).toMatch(/^flow\.mjs.* error [a-z-]+: .*"b"/);
  });

  test('is refused by run with a JSON document, and nothing is written', async () => {
    const cwd = await makeProject({ 'flow.mjs': 'export default 1;\n' });
    const end = await served(['run', 'flow.mjs', '--json'], { cwd });
    expect(end.code).toBe(2);
    expect(JSON.parse(end.stdout)).toMatchObject({
      outcome: 'invalid',
      problems: [{ code: 'module-export', at: { file: 'flow.mjs', line: 1, column: 1 } }],
    });
    expect((await served(['runs'], { cwd })).stdout).not.toContain('flow');
  });
});
