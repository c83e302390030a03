import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stripTypes } from './strip-types.js';

/** The part of Node's loader hooks used here. See `module.register` of Node 20 and `module.registerHooks` of later versions. */
interface ResolveContext {
  readonly parentURL?: string | undefined;
}
type NextResolve<R> = (specifier: string, context: ResolveContext) => R;
type NextLoad<R> = (url: string, context: object) => R;

interface LoadedSource {
  readonly format: 'module';
  readonly source: string;
  readonly shortCircuit: true;
}

/** Lets users' files import the running `skein`, and TypeScript by the name of the JavaScript compiled from it. */
export function resolve<R>(specifier: string, context: ResolveContext, next: NextResolve<R>): R {
  const { parentURL } = context;
  if (parentURL === undefined || !isOfUser(parentURL)) return next(specifier, context);
  // Resolved from here, the name refers to the package of this file.
  if (/^skein(\/|$)/.test(specifier)) return next(specifier, { ...context, parentURL: import.meta.url });
  return next(sourceNameOf(specifier, parentURL) ?? specifier, context);
}

/** Loads users' TypeScript as JavaScript. Other files load as usual. */
export function load<R>(url: string, context: object, next: NextLoad<R>): R | LoadedSource {
  if (!isOfUser(url) || !/\.m?ts$/.test(url)) return next(url, context);
  const path = fileURLToPath(url);
  const stripped = stripTypes(readFileSync(path, 'utf8'));
  if (stripped.ok) return { format: 'module', source: stripped.code, shortCircuit: true };
  const { message, line, column } = stripped.fault;
  throw Object.assign(new SyntaxError(message), { place: { path, line, column } });
}

/** Packages are JavaScript. */
function isOfUser(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

const SOURCE_ENDINGS: ReadonlyMap<string, string> = new Map([
  ['.js', '.ts'],
  ['.mjs', '.mts'],
  ['', '.ts'],
]);

/** The TypeScript file that a relative name refers to, if no file has that exact name. */
export function sourceNameOf(specifier: string, parentURL: string): string | undefined {
  if (!/^\.{0,2}\//.test(specifier)) return undefined;
  const { href } = new URL(specifier, parentURL);
  if (!href.startsWith('file:') || existsSync(fileURLToPath(href))) return undefined;
  const [ending = ''] = /\.[^./]*$/.exec(href) ?? [];
  const replaced = SOURCE_ENDINGS.get(ending);
  if (replaced === undefined) return undefined;
  const candidate = href.slice(0, href.length - ending.length) + replaced;
  return existsSync(fileURLToPath(candidate)) ? candidate : undefined;
}
