import type { JsonObject } from '../base/json.js';
import type { StepNote } from '../events/event.js';
import type { Tool } from './tool.js';

/** How a write changes the memory. */
export type MemoryMode = 'append' | 'replace';

/**
 * Text that all agents of a run share. Every read and write is one synchronous action, so parallel writers lose nothing and
 * readers never see half a write.
 */
export interface SharedMemory {
  read(): string;
  /** `append` joins with a newline, `replace` overwrites. */
  write(text: string, mode: MemoryMode): void;
}

/**
 * A shared memory with its first text.
 *
 * @example
 * const memory = createSharedMemory('Goal: review the change');
 * memory.write('one bug found', 'append');
 */
export function createSharedMemory(initial = ''): SharedMemory {
  let text = initial;
  return {
    read: () => text,
    write(added, mode) {
      if (mode === 'replace') text = added;
      else text = text === '' ? added : `${text}${text.endsWith('\n') ? '' : '\n'}${added}`;
    },
  };
}

/** What the memory tools of a step know about the step. */
export interface MemoryUser {
  readonly agent: string;
  now(): number;
  note(note: StepNote): void;
}

/** Both pairs of tools that reach the memory. Writes are told as `memory` notes, from which `memory.md` is kept. */
export function memoryTools(memory: SharedMemory, user: MemoryUser): readonly Tool[] {
  const write = (text: string, mode: MemoryMode): string => {
    memory.write(text, mode);
    user.note({ kind: 'memory', mode, text });
    return mode === 'replace' ? 'The shared memory was replaced.' : 'Added to the shared memory.';
  };
  const read = (): string => memory.read();
  return [
    memoryTool('shared_memory_read', 'Read the memory that all agents of this run share.', 'read', {}, [], read),
    memoryTool(
      'shared_memory_write',
      'Write to the memory that all agents of this run share: append adds a line, replace overwrites everything.',
      'once',
      { content: { type: 'string' }, mode: { type: 'string', enum: ['append', 'replace'] } },
      ['content'],
      (input) => write(text(input, 'content'), input['mode'] === 'replace' ? 'replace' : 'append'),
    ),
    memoryTool('read_memory', 'Read the memory that all agents of this run share.', 'read', {}, [], read),
    memoryTool(
      'write_memory',
      'Add an entry, with the time and your name, to the memory that all agents of this run share.',
      'once',
      { text: { type: 'string' } },
      ['text'],
      (input) => write(`[${new Date(user.now()).toISOString()}] [${user.agent}] ${text(input, 'text')}`, 'append'),
    ),
  ];
}

/** What the system prompt says about the tools when the memory is not put in front of the prompt. */
export const MEMORY_ADDENDUM = [
  'You share a memory with the other agents of this run.',
  'Read it with shared_memory_read before you start, and write what others need to know with shared_memory_write.',
].join('\n');

/** The block that stands in front of a prompt; the prompt itself stays byte for byte. An empty memory changes nothing. */
export function withMemory(memory: string, prompt: string): string {
  if (memory.trim() === '') return prompt;
  return `## Shared Memory (Current State)\n${memory}\n\n---\n\n${prompt}`;
}

function memoryTool(
  name: string,
  description: string,
  effect: Tool['effect'],
  properties: JsonObject,
  required: readonly string[],
  execute: (input: JsonObject) => string,
): Tool {
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  return { name, description, inputSchema, effect, trust: 'untrusted', execute };
}

function text(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}
