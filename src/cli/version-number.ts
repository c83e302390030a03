import { readFileSync } from 'node:fs';
import { packageRoot } from './package-root.js';

/**
 * The version in package.json.
 *
 * @example
 * versionNumber(); // '0.1.0'
 */
export function versionNumber(): string {
  const data: unknown = JSON.parse(readFileSync(new URL('package.json', packageRoot()), 'utf8'));
  const version: unknown = typeof data === 'object' && data !== null && 'version' in data ? data.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}
