import { createRequire } from 'node:module';
import type { transformSync } from '@swc/wasm-typescript';

/** What can't be read as TypeScript. Data alone: it goes from the thread of the loader to that of the program. */
export interface SyntaxFault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** JavaScript, or why there is none. With a source map, when places in it are others than in the text. */
export type Stripped =
  | { readonly ok: true; readonly code: string; readonly map?: string }
  | { readonly ok: false; readonly fault: SyntaxFault };

/**
 * TypeScript without its types. Types become spaces, as Node itself does it: places in the text stay the same, and so does the source of
 * every function, whatever Node runs it. Only what is more than types (enums, namespaces) is written anew, with a map of places.
 *
 * @example
 * stripTypes('export const x: number = 1;\n'); // { ok: true, code: 'export const x         = 1;\n' }
 */
export function stripTypes(text: string): Stripped {
  const strip = stripper();
  try {
    return { ok: true, code: strip(text, { mode: 'strip-only', module: true }).code };
  } catch (thrown) {
    if (!isUnsupported(thrown)) return { ok: false, fault: faultOf(thrown) };
  }
  try {
    return { ok: true, ...strip(text, { mode: 'transform', module: true, sourceMap: true }) };
  } catch (thrown) {
    return { ok: false, fault: faultOf(thrown) };
  }
}

let loaded: typeof transformSync | undefined;

/** Several megabytes, which nobody needs who runs no TypeScript; hooks of Node 22 and later have to answer at once. */
function stripper(): typeof transformSync {
  loaded ??= (createRequire(import.meta.url)('@swc/wasm-typescript') as { transformSync: typeof transformSync })
    .transformSync;
  return loaded;
}

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly startLine?: unknown;
  readonly startColumn?: unknown;
}

function isUnsupported(thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && (thrown as Thrown).code === 'UnsupportedSyntax';
}

/** What is thrown is not an error but data, with columns from 0. */
function faultOf(thrown: unknown): SyntaxFault {
  const { message, startLine, startColumn } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Thrown;
  return {
    message: typeof message === 'string' ? message : String(thrown),
    line: typeof startLine === 'number' ? startLine : 1,
    column: typeof startColumn === 'number' ? startColumn + 1 : 1,
  };
}
