import { createRequire } from 'node:module';
import type * as Cel from '@marcbachmann/cel-js';
import type * as Acorn from 'acorn';

// Most runs need neither package, and where one is needed nothing can wait for a promise. The build puts each into a file of its own.
const require = createRequire(import.meta.url);

/** Returns the JavaScript parser, for the sources of users' functions. */
export function acorn(): typeof Acorn {
  return require('acorn') as typeof Acorn;
}

/** Returns the expression language, for conditions. */
export function cel(): typeof Cel {
  return require('@marcbachmann/cel-js') as typeof Cel;
}
