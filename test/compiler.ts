import { createRequire } from 'node:module';
import type ts from 'typescript';

/** TypeScript. An import would first search its nine megabytes for the names that it exports, which takes longer than all else. */
export const compiler = createRequire(import.meta.url)('typescript') as typeof ts;
