/**
 * Who may import whom: the table of section 2 of the design, as rules.
 * A folder of src/ imports itself and what its row names; a folder without a row imports nothing. Types count as imports.
 */
const BELOW_ENGINE = ['base', 'events', 'lang', 'plan', 'journal', 'budget', 'guard'];
const PORTS = 'engine/ports';
const RECORDS = 'journal/records?\\.ts';
const STORE_PORT = 'journal/(store(-port)?|thread-rows)\\.ts';
const PARTS = [
  'text',
  ...BELOW_ENGINE,
  'engine',
  'agent',
  'supervise',
  'notations',
  'stores',
  'restate',
  'observe',
  'audit',
  'secrets',
];

const ROWS = {
  base: [],
  events: ['base'],
  text: ['base', 'lang/value-text\\.ts'],
  lang: ['base'],
  plan: ['base', 'lang'],
  draw: ['base', 'plan'],
  secrets: ['base'],
  'machine/pure': ['base'],
  journal: ['base', 'events', 'guard', 'lang', 'plan'],
  budget: ['base', 'events', 'lang', 'plan'],
  guard: ['base', 'events', 'lang', 'plan'],
  engine: BELOW_ENGINE,
  agent: ['text', 'secrets', ...BELOW_ENGINE, PORTS],
  supervise: ['agent', ...BELOW_ENGINE, PORTS],
  notations: ['base', 'text', 'lang', 'plan', 'machine/pure'],
  stores: ['base', STORE_PORT, RECORDS],
  restate: [...BELOW_ENGINE, PORTS],
  observe: ['base', 'events', RECORDS],
  audit: ['base', 'events', 'lang', 'plan', 'secrets', RECORDS],
  graph: [...PARTS, 'runtime'],
  machine: [...PARTS, 'runtime'],
  tree: [...PARTS, 'runtime'],
  testing: [...PARTS, 'runtime', 'machine/turn-types\\.ts'],
  cli: [
    'agent/index\\.ts',
    'base',
    'converting\\.ts',
    'draw\\.ts',
    'index\\.ts',
    'plan\\.ts',
    'prices\\.ts',
    'foreseen\\.ts',
    'yaml\\.ts',
    'events',
    'secrets',
    'recorded-runs\\.ts',
    'running\\.ts',
    'sqlite\\.ts',
    'talking\\.ts',
    'stores/sqlite\\.ts',
    'stores/sqlite-names\\.ts',
  ],
  server: ['index\\.ts', 'yaml\\.ts', 'runtime\\.ts'],
};

/** What the row cannot say: these may be imported for their types alone. */
const TYPES_ONLY = { secrets: ['plan'], cli: ['plan', 'lang', 'journal'], server: ['base', 'events'] };

/** npm packages with one home. */
const PACKAGES = {
  '@ai-sdk/.+': 'agent/',
  '@modelcontextprotocol/.+': 'agent/',
  '@swc/wasm-typescript': 'cli/modules/strip-types\\.ts$',
  '@photostructure/sqlite': 'stores/sqlite-driver\\.ts$',
  '@marcbachmann/cel-js': 'lang/(expression[^/]*|on-demand)\\.ts$',
  '@dagrejs/dagre': 'draw/dagre\\.ts$',
  acorn: '(lang/on-demand|notations/graph/parameters)\\.ts$',
  commander: 'cli/',
  re2js: 'agent/tools/(glob-pattern|line-matcher)\\.ts$',
  'toml-eslint-parser': 'text/toml\\.ts$',
  yaml: 'text/',
};

/** Modules of Node that touch the world, and the folders that may. */
const HOST = {
  'file-system': [
    'fs(/promises)?',
    [
      'stores',
      'audit',
      'secrets/find-secrets\\.ts',
      'text/files\\.ts',
      'agent/sandbox',
      'agent/tools',
      'agent/text-files\\.ts',
      'cli',
      'server',
    ],
  ],
  network: ['(https?|http2|net|tls|dgram|dns(/promises)?)', ['agent', 'restate', 'server']],
  'child-process': ['(child_process|cluster|worker_threads)', ['agent', 'cli']],
};

const inSrc = (parts) =>
  `^src/(${parts.map((part) => (part.endsWith('$') || part.endsWith('.ts') ? part : `${part}/`)).join('|')})`;

const rows = Object.entries(ROWS).flatMap(([folder, allowed]) => {
  const types = TYPES_ONLY[folder] ?? [];
  const from = { path: `^src/${folder}/` };
  const imports = {
    name: `${folder}-imports`,
    severity: 'error',
    comment: `${folder} may import: ${[...allowed, ...types.map((name) => `${name} (types)`)].join(', ') || 'nothing'}`,
    from,
    to: { path: '^src/', pathNot: inSrc([folder, ...allowed, ...types]) },
  };
  if (types.length === 0) return [imports];
  const typesOnly = {
    name: `${folder}-types-only`,
    severity: 'error',
    comment: `${folder} may import only types from: ${types.join(', ')}`,
    from,
    to: { path: inSrc(types), dependencyTypesNot: ['type-only'] },
  };
  return [imports, typesOnly];
});

const packages = Object.entries(PACKAGES).map(([name, home]) => ({
  name: `home-of-${name.replace(/\W+/g, '-').replace(/^-|-$/g, '')}`,
  severity: 'error',
  comment: `${name} is imported in src/${home} alone`,
  from: { path: '^src/', pathNot: `^src/${home}` },
  to: { path: `node_modules/${name}/` },
}));

const host = Object.entries(HOST).map(([name, [modules, folders]]) => ({
  name: `${name}-only-in`,
  severity: 'error',
  comment: `${name} modules of Node are for ${folders.join(', ')}`,
  from: { path: '^src/', pathNot: inSrc(folders) },
  to: { dependencyTypes: ['core'], path: `^(node:)?${modules}$` },
}));

module.exports = {
  forbidden: [
    ...rows,
    {
      name: 'folder-without-row',
      severity: 'error',
      comment: 'a new folder of src needs a row in .dependency-cruiser.cjs',
      from: { path: '^src/[^/]+/', pathNot: inSrc([...Object.keys(ROWS), 'runtime']) },
      to: { path: '^src/' },
    },
    {
      name: 'runtime-imports',
      severity: 'error',
      comment: 'runtime.ts wires the parts; it knows nothing of the test doubles, the clients or the public names',
      from: { path: '^src/runtime(/|\\.ts$)' },
      to: { path: '^src/', pathNot: inSrc([...PARTS, 'runtime']) },
    },
    {
      name: 'entry-imports',
      severity: 'error',
      comment: 'files beside index.ts export public names; listeners are reached through the runtime',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/(runtime|running|recorded-runs)\\.ts$' },
      to: { path: inSrc(['observe', 'audit', 'testing', 'cli', 'server']) },
    },
    ...packages,
    ...host,
    {
      name: 'files-of-tools',
      severity: 'error',
      comment: 'tools reach files through Folders and replaceFile alone, which know what belongs to Skein itself',
      from: { path: '^src/agent/tools/', pathNot: '/(paths|protection|write-file)\\.ts$' },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'], path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'programs-of-tools',
      severity: 'error',
      comment: 'tools start programs in groups that can be ended, and only shell and MCP servers do',
      from: { path: '^src/agent/tools/', pathNot: '/process-group\\.ts$' },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'], path: '^(node:)?child_process$' },
    },
    {
      name: 'no-host-time',
      severity: 'error',
      comment: 'time, randomness, ids and digests come from base/clock, base/ids, base/hash or the durability port',
      from: {
        path: '^src/(base|engine|events|lang|machine|notations|plan|agent/loop)/|^src/agent/(executor|ask-user|system-prompt)\\.ts$',
        pathNot: '^src/base/(clock|hash|ids)\\.ts$',
      },
      to: { dependencyTypes: ['core'], path: '^(node:)?(crypto|timers(/promises)?|perf_hooks)$' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '/(index|yaml|main)\\.ts$' },
      to: {},
    },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      comment: 'a package that users do not install has a home, and is built in',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], pathNot: `node_modules/(${Object.keys(PACKAGES).join('|')})/` },
    },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'no-unresolvable', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
    { name: 'no-test-code', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench|examples)/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
