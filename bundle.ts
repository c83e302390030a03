import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import type { Plugin } from 'rolldown';

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

/** Writes the licences of all packages in the build to one file beside it. */
const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
    const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined));
    const source = [...folders]
      .toSorted()
      .map(licenceOf)
      .join(`\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName: 'LICENCES.txt', source });
  },
};

/** Packages that are installed beside this one; whatever else is imported is built in. */
const { dependencies, peerDependencies, optionalDependencies } = manifestOf(import.meta.dirname);
const INSTALLED = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });

/**
 * The command line and the public entries are built together: a workflow module that imports 'skein/graph' gets the code that runs it.
 * Packages that nearly every start needs are built in (the development dependencies); what a provider, a tool server or a store needs is loaded from packages that users see and audit.
 */
await build({
  input: {
    index: 'src/index.ts',
    yaml: 'src/yaml.ts',
    graph: 'src/graph.ts',
    machine: 'src/machine.ts',
    sqlite: 'src/sqlite.ts',
    'agent/index': 'src/agent/index.ts',
    'testing/index': 'src/testing/index.ts',
    'cli/main': 'src/cli/main.ts',
    // Node 20 starts it by its file name, in a thread of its own.
    'cli/module-hooks': 'src/cli/modules/module-hooks.ts',
  },
  platform: 'node',
  // The variants of packages that are ES modules need no wrapping.
  resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'browser', 'default'] },
  external: INSTALLED.map((name) => new RegExp(`^${name}(?:/|$)`)),
  plugins: [licences],
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    comments: false,
    chunkFileNames: 'chunks/[name].js',
    // Opening a file costs more than reading code that is not needed. A group takes along what it imports, unless an earlier one has it.
    codeSplitting: {
      groups: [
        { name: 'start', test: /src\/cli\/(?:package-root|version-number|view\/streams)\./ },
        { name: 'commander', test: /node_modules\/commander\// },
        { name: 'yaml', test: /node_modules\/yaml\// },
        { name: 'acorn', test: /node_modules\/acorn\// },
        { name: 'cel', test: /node_modules\/@marcbachmann\/cel-js\// },
        { name: 'base', test: /src\/base\// },
        { name: 'plan', test: /src\/(?:lang|plan)\// },
        { name: 'text', test: /src\/(?:text\/(?!form-schema|script-keys)|notations\/[^/]+\.ts)/ },
        { name: 'dag', test: /src\/notations\/dag\// },
        { name: 'pipeline', test: /src\/notations\/pipeline\// },
        { name: 'engine', test: /src\/(?:engine|events|journal)\// },
        { name: 'run', test: /src\/cli\/(?:run|view)\// },
      ].map((group, at, { length }) => ({ ...group, priority: length - at })),
    },
  },
});
