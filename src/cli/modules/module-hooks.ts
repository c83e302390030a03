import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stripTypes } from './strip-types.js';

/** What Node asks a loader, as far as it matters here; see `module.register` of Node 20 and `module.registerHooks` of later ones. */
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

/** Files of users may import `skein`, which is the one that runs, and TypeScript by the name of the JavaScript that it becomes. */
export function resolve<R>(specifier: string, context: ResolveContext, next: NextResolve<R>): R {
  const { parentURL } = context;
  if (parentURL === undefined || !isOfUser(parentURL)) return next(specifier, context);
  // Asked from here, Node finds the package that this file belongs to.
  if (/^skein(\/|$)/.test(specifier)) return next(specifier, { ...context, parentURL: import.meta.url });
  return next(sourceNameOf(specifier, parentURL) ?? specifier, context);
}

/** TypeScript of users, as JavaScript; anything else is loaded as ever. */
export function load<R>(url: string, context: object, next: NextLoad<R>): R | LoadedSource {
  if (!isOfUser(url) || !/\.m?ts$/.test(url)) return next(url, context);
  const path = fileURLToPath(url);
  const stripped = stripTypes(readFileSync(path, 'utf8'));
  if (stripped.ok) return { format: 'module', source: stripped.code, shortCircuit: true };
  const { message, line, column } = stripped.fault;
  throw Object.assign(new SyntaxError(message), { place: { path, line, column } });
}

/** Packages come as JavaScript. */
function isOfUser(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/');
}

const SOURCE_ENDINGS: ReadonlyMap<string, string> = new Map([
  ['.js', '.ts'],
  ['.mjs', '.mts'],
  ['', '.ts'],
]);

/** The TypeScript file that is meant by a relative name, where there is no file of that name itself. */
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
