import { takes } from '../plan/built-in-tools.js';
import { builtInOf } from '../plan/tool-names.js';
import type { OpenedTool } from './session.js';

/** Whether a tool runs programs. */
export function runsCommands({ name, origin, code }: OpenedTool): boolean {
  const builtIn = origin === undefined && code === undefined ? builtInOf(name) : undefined;
  return builtIn !== undefined && takes(builtIn, 'command');
}
