import { createRequire } from 'node:module';
import type * as Cel from '@marcbachmann/cel-js';
import type * as Acorn from 'acorn';
import { lazily } from '../base/collections.js';

// Most runs need neither package, and where one is needed nothing can wait for a promise. The build puts each into a file of its own.

/** The JavaScript parser, for the sources of users' functions. */
export const acorn = lazily(() => createRequire(import.meta.url)('acorn') as typeof Acorn);

/** The expression language, for conditions. */
export const cel = lazily(() => createRequire(import.meta.url)('@marcbachmann/cel-js') as typeof Cel);
