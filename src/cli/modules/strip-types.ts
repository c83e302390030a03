import { createRequire } from 'node:module';
import type { transformSync } from '@swc/wasm-typescript';

/** A syntax error in TypeScript. Plain data, because it passes from the loader's thread to the program's. */
export interface SyntaxFault {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** JavaScript, or the syntax error. Has a source map if places differ from the original text. */
export type Stripped =
  | { readonly ok: true; readonly code: string; readonly map?: string }
  | { readonly ok: false; readonly fault: SyntaxFault };

/** Removes the types from TypeScript: they become spaces, so that places stay. Enums and namespaces are rewritten, with a map. */
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

/** Loaded on demand: several megabytes, needed only for TypeScript. Synchronous, because hooks of Node 22 and later must answer at once. */
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

/** The parser throws data instead of an error, with columns from 0. */
function faultOf(thrown: unknown): SyntaxFault {
  const { message, startLine, startColumn } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Thrown;
  return {
    message: typeof message === 'string' ? message : String(thrown),
    line: typeof startLine === 'number' ? startLine : 1,
    column: typeof startColumn === 'number' ? startColumn + 1 : 1,
  };
}
