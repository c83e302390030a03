import { canonicalHash } from '../base/hash.js';
import type { CompiledNode } from './compile.js';

/** Digest of what decides what a node does (J2): asked only by back ends that record, so it is made when first asked. */
export function definitionOf(compiled: CompiledNode): string {
  const { node } = compiled;
  return node.kind === 'agent' ? canonicalHash({ agent: node.agent, prompt: node.prompt }) : '';
}
