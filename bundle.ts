import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import type { Plugin } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** What a package in the build asks to be passed on with it. */
function licenceOf(folder: string): string {
  const { name, version, license } = manifestOf(folder);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no file with its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

/** The folder of the package that a module is from; undefined for a module of our own. */
function packageOf(id: string): string | undefined {
  const folder = /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(id)?.[0];
  return folder !== undefined && existsSync(folder) ? folder : undefined;
}

/** The folders of all packages in the build. */
const builtIn = new Set<string>();

const noted: Plugin = {
  name: 'packages in the build',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) {
      const modules = chunk.type === 'chunk' ? chunk.moduleIds : [];
      for (const folder of modules.map(packageOf)) if (folder !== undefined) builtIn.add(folder);
    }
  },
};

/** Packages that are built in, but evaluated when they are first needed (`src/lang/on-demand.ts`), and the names of their files. */
const ON_DEMAND: Readonly<Record<string, string>> = { acorn: 'acorn', '@marcbachmann/cel-js': 'cel' };

/** Functions of our own that are treated in the same way. They take and give plain data, so they may have their own copies of what they import. */
const FINDINGS = {
  module: 'src/lang/schema-check.ts',
  names: ['schemaFindings', 'schemaFault', 'matchPattern'],
  file: 'json-schema',
};

const findings: Plugin = {
  name: 'JSON Schema on demand',
  load(id) {
    if (!id.endsWith(FINDINGS.module)) return null;
    const exported = FINDINGS.names.map(
      (name) => `export const ${name} = (...args) => (found ??= load()).${name}(...args);`,
    );
    // Found when the first is called: at each start it would take half a millisecond.
    return `import { createRequire } from 'node:module';
      let found;
      ${exported.join('\n')}
      const load = () => createRequire(import.meta.url)("${FINDINGS.module}");`;
  },
};

/** Their files that the code was led to. */
const placed = new Set<string>();

/** Where the code requires one of those packages, it gets its file. Lines stay, so the source map holds. */
const required: Plugin = {
  name: 'packages on demand',
  renderChunk(text, { fileName }) {
    const up = '../'.repeat(fileName.split('/').length - 1);
    const code = text.replaceAll(
      /\b(require|createRequire\(import\.meta\.url\))\("([^"]+)"\)/g,
      (call, load: string, name: string) => {
        const file = name === FINDINGS.module ? FINDINGS.file : ON_DEMAND[name];
        if (file === undefined) return call;
        placed.add(file);
        return `${load}("./${up}packages/${file}.cjs")`;
      },
    );
    return { code, map: null };
  },
};

/**
 * Makes regular expressions with properties of Unicode, such as `\p{L}`, where they are reached. V8 looks up all characters of a property each time it
 * reads the literal: when a file is loaded, and when a function around it is compiled. Lines stay, so the source map holds.
 */
const properties: Plugin = {
  name: 'properties of characters on demand',
  renderChunk(text) {
    const found: { readonly from: number; readonly to: number; readonly made: string }[] = [];
    const visitor = new Visitor({
      Literal(node) {
        if (!('regex' in node) || !/\\p\{/i.test(node.regex.pattern)) return;
        const given = [node.regex.pattern, node.regex.flags].map((part) => JSON.stringify(part));
        found.push({ from: node.start, to: node.end, made: `new RegExp(${given.join(', ')})` });
      },
    });
    visitor.visit(parseSync('chunk.js', text).program);
    const last = found.toSorted((a, b) => b.from - a.from);
    const code = last.reduce((made, one) => `${made.slice(0, one.from)}${one.made}${made.slice(one.to)}`, text);
    return { code, map: null };
  },
};

/**
 * Escapes characters beyond ASCII: with one of them in a file, Node keeps the whole file in two bytes a character, and takes longer to read and compile it.
 * Lines stay, so the source map holds.
 */
const ascii: Plugin = {
  name: 'ASCII',
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = inAscii(chunk);
  },
};

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function inAscii({ code, fileName }: { readonly code: string; readonly fileName: string }): string {
  if (/\\\P{ASCII}|String\.raw`[^`]*\P{ASCII}/u.test(code))
    throw new Error(`${fileName}: a character beyond ASCII can't be escaped behind a backslash or in raw text`);
  return code.replaceAll(/\P{ASCII}/gu, (found) => found.split('').map(escaped).join(''));
}

/**
 * Commander as ES modules: wrapped, all of it would be compiled twice at each start. It gets by without two modules of Node that cost milliseconds: one is
 * a global already, the other starts programs as commands, which this one has not.
 */
const commander: Plugin = {
  name: 'commander as ES modules',
  load(id) {
    if (!id.endsWith('/commander/esm.mjs')) return null;
    return ['argument', 'command', 'error', 'help', 'option']
      .map((file) => `export * from './lib/${file}.js';`)
      .join('\n');
  },
  transform(text, id) {
    if (!id.includes('/commander/lib/')) return null;
    const code = text
      .replace("const process = require('node:process');", '')
      .replace("const childProcess = require('node:child_process');", '')
      .replaceAll('childProcess.', "process.getBuiltinModule('node:child_process').")
      .replace(
        "const EventEmitter = require('node:events').EventEmitter;",
        "import { EventEmitter } from 'node:events';",
      )
      .replaceAll(/^const (\w+|\{[^}]+\}) = require\('([^']+)'\);$/gm, "import $1 from '$2';")
      .replaceAll(/^exports\.(\w+) = \1;/gm, 'export { $1 };');
    if (/\brequire\(|\bexports\./.test(code)) throw new Error(`${id} can't be read as an ES module`);
    return { code, map: null };
  },
};

/** Node is given the CommonJS variant of the YAML package otherwise, of which nothing can be left out. */
const yaml: Plugin = {
  name: 'YAML as ES modules',
  resolveId(name) {
    if (name !== 'yaml') return null;
    return { id: join(import.meta.dirname, 'node_modules/yaml/browser/dist/index.js'), moduleSideEffects: false };
  },
};

/** Packages that are installed beside this one; whatever else is imported is built in. */
const { dependencies, peerDependencies, optionalDependencies } = manifestOf(import.meta.dirname);
const INSTALLED = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });

/**
 * The command line and the public entries are built together: a workflow module that imports 'skein/graph' gets the code that runs it.
 * Packages that nearly every start needs are built in (the development dependencies); what a provider or a store needs is loaded from packages that users see and audit.
 * The client of tool servers is built in, too: its packages are 9 MB of an install that may have 60, and Skein needs 0.4 MB of them.
 */
await build({
  input: {
    index: 'src/index.ts',
    yaml: 'src/yaml.ts',
    graph: 'src/graph.ts',
    machine: 'src/machine.ts',
    tree: 'src/tree.ts',
    sqlite: 'src/sqlite.ts',
    'agent/index': 'src/agent/index.ts',
    'testing/index': 'src/testing/index.ts',
    'cli/main': 'src/cli/main.ts',
    // Node 20 starts it by its file name, in a thread of its own.
    'cli/module-hooks': 'src/cli/modules/module-hooks.ts',
  },
  platform: 'node',
  // The variants of packages that are ES modules need no wrapping.
  resolve: {
    mainFields: ['module', 'main'],
    conditionNames: ['import', 'browser', 'default'],
  },
  external: INSTALLED.map((name) => new RegExp(`^${name}(?:/|$)`)),
  plugins: [noted, findings, required, commander, yaml, properties, ascii],
  output: {
    dir: 'dist',
    format: 'esm',
    // For those who debug the build: not in the package, and no file refers to them.
    sourcemap: 'hidden',
    comments: false,
    chunkFileNames: 'chunks/[name].js',
    // Opening a file costs more than reading code that is not needed, up to a point. A group takes along what it imports, unless an earlier one has it:
    // so each is what comes through one door, and what stays behind other doors is not read.
    codeSplitting: {
      groups: [
        { name: 'start', test: /src\/cli\/(?:own-package|view\/streams)\./ },
        { name: 'base', test: /src\/(?:base|events|secrets)\// },
        { name: 'program', test: /node_modules\/commander\/|src\/cli\/(?:failures|other-verbs|program)\./ },
        {
          name: 'plan',
          test: /src\/(?:guard\/foresee|notations\/graph\/nodes\/(?:json-schema|planned|tool|tool-node)|plan\/(?:checks|downstream|drawing|endings|glances|goto|inherited-supervision|made-of|nodes|notations|outline|permission-rule|powers|providers|reducers|risky-commands|tool-names)|lang\/(?:answers|computed-text|condition-text|json-template|outputs-block|template|truthy|wildcard))\./,
        },
        {
          name: 'text',
          test: /node_modules\/yaml\/|src\/(?:yaml\.ts|notations\/[^/]+\.ts|text\/(?!check-form|form-schema|json|script-keys|toml))/,
        },
        { name: 'dag', test: /src\/notations\/dag\/load\./ },
        { name: 'pipeline', test: /src\/notations\/pipeline\/load\./ },
        { name: 'run', test: /src\/cli\/(?:commands\/run|run\/(?:run-command|run-options|workflow-powers))\./ },
        {
          name: 'ready',
          test: /src\/(?:budget\/(?:lack-text|ledger)|engine\/(?:durable\/(?:alive-time|memory-durable)|state\/carried-state)|runtime\/(?:check-launch|own-places|start-later)|supervise\/supervisor)\./,
        },
        { name: 'engine', test: /src\/runtime\/(?:workflow-run|invariants)\./ },
        {
          name: 'journal',
          test: /src\/(?:engine\/durable\/recorded\/(?:recorded-budget|recorded-spending|store-count)|journal\/(?:cancelling|definition|delivered|history|journal|leaving|session|stored|thread-journal|thread-writer)|runtime\/(?:recorded-limits|threads\/(?:line|turn))|stores\/(?:rules|spending))\./,
        },
        { name: 'recorded', test: /src\/(?:runtime\/backends\/(?:recorded|backend-of))\./ },
        { name: 'audit', test: /src\/(?:running|audit\/run-folder)\./ },
        { name: 'outline', test: /src\/plan\/(?:builder|draw|envelope|mentions|retry-input)\./ },
        {
          name: 'overview',
          test: /src\/(?:journal\/(?:answering|delivering|overview|pruning|run-list|thread-overview)|runtime\.ts|runtime\/(?:on-demand|threads\/)|stores\/memory\.)/,
        },
      ].map((group, at, { length }) => ({ ...group, priority: length - at })),
    },
  },
});

await build({
  input: {
    ...Object.fromEntries(Object.entries(ON_DEMAND).map(([name, file]) => [file, name])),
    [FINDINGS.file]: FINDINGS.module,
  },
  platform: 'node',
  plugins: [noted, properties, ascii],
  output: { dir: 'dist/packages', format: 'cjs', entryFileNames: '[name].cjs', exports: 'named', comments: false },
});

// A package of the same name would be loaded in their place.
for (const file of [...Object.values(ON_DEMAND), FINDINGS.file])
  if (!placed.has(file)) throw new Error(`nothing loads ${file}.cjs`);

const licences = [...builtIn].toSorted().map(licenceOf);
writeFileSync('dist/LICENCES.txt', licences.join(`\n${'-'.repeat(80)}\n\n`));
