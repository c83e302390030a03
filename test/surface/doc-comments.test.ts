import { resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const ENTRIES: Readonly<Record<string, string>> = {
  skein: 'src/index.ts',
  'skein/yaml': 'src/yaml.ts',
  'skein/agent': 'src/agent/index.ts',
  'skein/graph': 'src/graph.ts',
  'skein/machine': 'src/machine.ts',
  'skein/sqlite': 'src/sqlite.ts',
  'skein/testing': 'src/testing/index.ts',
};

/** A name of the public surface. */
interface PublicName {
  readonly subpath: string;
  readonly name: string;
  readonly comment: string;
  readonly isFunction: boolean;
  readonly isType: boolean;
  readonly examples: readonly string[];
}

const config = ts.readConfigFile(resolve(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
const surface = ts.createProgram(
  Object.values(ENTRIES).map((file) => resolve(ROOT, file)),
  options,
);

function publicNames(): readonly PublicName[] {
  const checker = surface.getTypeChecker();
  return Object.entries(ENTRIES).flatMap(([subpath, file]) => {
    const source = surface.getSourceFile(resolve(ROOT, file));
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} is no module`);
    return checker.getExportsOfModule(module).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      return {
        subpath,
        name: exported.name,
        comment: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
        isFunction: (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0,
        isType: (symbol.flags & (ts.SymbolFlags.Value | ts.SymbolFlags.Alias)) === 0,
        examples: symbol
          .getJsDocTags(checker)
          .filter((tag) => tag.name === 'example')
          .map((tag) => ts.displayPartsToString(tag.text)),
      };
    });
  });
}

const PUBLIC = publicNames();

describe('every public name', () => {
  test.each(PUBLIC)('$subpath: $name says what it is', ({ comment }) => {
    expect(comment.length).toBeGreaterThan(10);
  });

  test.each(PUBLIC.filter((one) => one.isFunction))('$subpath: $name has an example', ({ examples }) => {
    expect(examples).not.toEqual([]);
  });
});

/** What an example may use without saying where it comes from: the names of all subpaths, and things that exist only in the example. */
function moduleOf(example: string, free: ReadonlySet<string>): string {
  const own = new Set(
    [...example.matchAll(/\b(?:import|const|let|function|class)\s+\{?([^}=(]*)/g)].flatMap(
      (match) => (match[1] ?? '').match(/[\w$]+/g) ?? [],
    ),
  );
  const imports = Object.keys(ENTRIES).map((subpath) => {
    const names = PUBLIC.filter((one) => one.subpath === subpath && !own.has(one.name));
    // Some names are in several subpaths.
    for (const { name } of names) own.add(name);
    return `import { ${names.map((one) => (one.isType ? `type ${one.name}` : one.name)).join(', ')} } from '${subpath}';`;
  });
  return [...imports, ...[...free].map((name) => `declare const ${name}: any;`), example, 'export {};'].join('\n');
}

/** Errors of files that exist only in memory. */
function errorsOf(files: ReadonlyMap<string, string>): readonly ts.Diagnostic[] {
  const host = ts.createCompilerHost({ ...options, noUnusedLocals: false });
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(name);
    if (text !== undefined) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023);
    return surface.getSourceFile(name) ?? readSource(name, ...rest);
  };
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => files.has(name) || exists(name);
  const program = ts.createProgram([...files.keys()], { ...options, noUnusedLocals: false }, host);
  return [...files.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
}

/** "Cannot find name", and the same for a shorthand property. */
const UNKNOWN_NAME = [2304, 18_004, 2552];

test('the examples compile', { timeout: 60_000 }, () => {
  const examples = new Map(
    PUBLIC.flatMap(({ subpath, name, examples: texts }) =>
      texts.map((text, at) => [resolve(ROOT, `${subpath.replace('/', '-')}-${name}-${at}.ts`), text] as const),
    ),
  );
  expect(examples.size).toBeGreaterThan(20);
  const free = new Map([...examples.keys()].map((file) => [file, new Set<string>()]));
  const modules = (): ReadonlyMap<string, string> =>
    new Map([...examples].map(([file, text]) => [file, moduleOf(text, free.get(file) ?? new Set())]));
  for (const error of errorsOf(modules())) {
    const name = /'([\w$]+)'/.exec(ts.flattenDiagnosticMessageText(error.messageText, ' '))?.[1];
    if (UNKNOWN_NAME.includes(error.code) && name !== undefined) free.get(error.file?.fileName ?? '')?.add(name);
  }
  const left = errorsOf(modules()).map(
    (error) =>
      `${error.file?.fileName.replace(`${ROOT}/`, '')}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`,
  );
  expect(left).toEqual([]);
});
