import { expect, onTestFinished, test } from 'vitest';
import { quietSqlite } from '../../src/cli/run/open-store.js';

test('the warning that SQLite of Node is experimental is not told, others are', () => {
  const before = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {};
  onTestFinished(() => void Object.defineProperty(process, 'emitWarning', before));
  const told: unknown[] = [];
  process.emitWarning = (...words: unknown[]): void => void told.push(words);
  quietSqlite();
  process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning');
  process.emitWarning('something else', 'DeprecationWarning');
  expect(told).toEqual([['something else', 'DeprecationWarning']]);
});
