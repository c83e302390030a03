import { resolve } from 'node:path';
import type ts from 'typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { docSnippets } from '../examples/support/snippets.js';
import { compiler } from '../compiler.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** As they are shipped: the compiler reads declarations in half the time of the code. */
const ENTRIES: Readonly<Record<string, string>> = {
  skein: 'dist/index.d.ts',
  'skein/yaml': 'dist/yaml.d.ts',
  'skein/agent': 'dist/agent/index.d.ts',
  'skein/graph': 'dist/graph.d.ts',
  'skein/machine': 'dist/machine.d.ts',
  'skein/sqlite': 'dist/sqlite.d.ts',
  'skein/testing': 'dist/testing/index.d.ts',
  'skein/tree': 'dist/tree.d.ts',
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

const config = compiler.readConfigFile(resolve(ROOT, 'tsconfig.json'), (path) => compiler.sys.readFile(path));
const { options: project } = compiler.parseJsonConfigFileContent(config.config, compiler.sys, ROOT);
const options: ts.CompilerOptions = {
  ...project,
  paths: Object.fromEntries(Object.entries(ENTRIES).map(([subpath, file]) => [subpath, [`./${file}`]])),
};
const surface = compiler.createProgram(
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
      const symbol = exported.flags & compiler.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      return {
        subpath,
        name: exported.name,
        comment: compiler.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
        isFunction: (symbol.flags & (compiler.SymbolFlags.Function | compiler.SymbolFlags.Class)) !== 0,
        isType:
          isTypeOnly(exported) || (symbol.flags & (compiler.SymbolFlags.Value | compiler.SymbolFlags.Alias)) === 0,
        examples: symbol
          .getJsDocTags(checker)
          .filter((tag) => tag.name === 'example')
          .map((tag) => compiler.displayPartsToString(tag.text)),
      };
    });
  });
}

/** A class that users get from a function, and never make. */
function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(
    (each) => compiler.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly),
  );
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

/** Words that examples of others have for things of their own. */
const COMMON_WORDS = 'skein/tree';

/** An example may use the names of all subpaths without saying where they come from. */
function moduleOf(example: string, of: string): string {
  const own = new Set(
    [...example.matchAll(/\b(?:import|const|let|function|class)\s+\{?([^}=(]*)/g)].flatMap(
      (match) => (match[1] ?? '').match(/[\w$]+/g) ?? [],
    ),
  );
  const words = new Set(example.match(/[\w$]+/g));
  const subpaths = [of, ...Object.keys(ENTRIES).filter((each) => each !== of && each !== COMMON_WORDS)];
  const imports = subpaths.map((subpath) => {
    const names = PUBLIC.filter((one) => one.subpath === subpath && words.has(one.name) && !own.has(one.name));
    // Some names are in several subpaths.
    for (const { name } of names) own.add(name);
    return `import { ${names.map((one) => (one.isType ? `type ${one.name}` : one.name)).join(', ')} } from '${subpath}';`;
  });
  return [...imports, example, 'export {};'].join('\n');
}

/** Errors of files that exist only in memory, in the project's own settings. */
function errorsOf(files: ReadonlyMap<string, string>): readonly ts.Diagnostic[] {
  const host = compiler.createCompilerHost(options);
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(name);
    if (text !== undefined) return compiler.createSourceFile(name, text, compiler.ScriptTarget.ES2023);
    return surface.getSourceFile(name) ?? readSource(name, ...rest);
  };
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => files.has(name) || exists(name);
  const program = compiler.createProgram([...files.keys()], options, host);
  return [...files.keys()].flatMap((name) => {
    const source = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
}

/** "Cannot find name", also of a shorthand property: an example may use things that it doesn't make. */
const UNKNOWN_NAME = [2304, 18_004, 2552];
/** Declared and never read, as in an example that ends with what it makes. */
const UNUSED = [6133, 6192, 6196, 6198, 6199];

/** Compiled together: most of the time goes into what all of them import. */
describe('the compiler', async () => {
  const examples = new Map(
    PUBLIC.flatMap(({ subpath, name, examples: texts }) =>
      texts.map(
        (text, at) =>
          [resolve(ROOT, `${subpath.replace('/', '-')}-${name}-${at}.ts`), moduleOf(text, subpath)] as const,
      ),
    ),
  );
  const snippets = (await docSnippets()).filter(({ language, text }) => language === 'ts' && text.includes('import '));
  const fences = new Map(
    snippets.map(({ place, text }) => [resolve(ROOT, `${place.replaceAll(/\W/g, '-')}.ts`), text]),
  );
  let errors: readonly ts.Diagnostic[] = [];
  beforeAll(() => {
    errors = errorsOf(new Map([...examples, ...fences]));
  });

  function errorsIn(files: ReadonlyMap<string, string>, allowed: readonly number[]): readonly string[] {
    return errors
      .filter(({ file, code }) => files.has(file?.fileName ?? '') && !allowed.includes(code))
      .map(({ file, messageText }) => {
        return `${file?.fileName.replace(`${ROOT}/`, '')}: ${compiler.flattenDiagnosticMessageText(messageText, ' ')}`;
      });
  }

  test('takes the examples of public names', () => {
    expect(examples.size).toBeGreaterThan(20);
    expect(errorsIn(examples, [...UNKNOWN_NAME, ...UNUSED])).toEqual([]);
  });

  test('takes the TypeScript of the documentation', () => {
    expect(fences.size).toBeGreaterThan(20);
    expect(errorsIn(fences, [])).toEqual([]);
  });
});
