import type { JsonObject } from '../base/json.js';
import type { StepNote } from '../events/event.js';
import type { StepTool } from './tool.js';
import { requiredText } from './tools/tool-input.js';

/** How a write changes the memory. */
export type MemoryMode = 'append' | 'replace';

/**
 * Text that all agents of a run share. Every read and write is one synchronous action, so parallel writers lose nothing and readers never
 * see a partial write.
 */
export interface SharedMemory {
  read(): string;
  /** `append` joins with a newline, `replace` overwrites. */
  write(text: string, mode: MemoryMode): void;
}

/**
 * Creates a shared memory with its first text.
 *
 * @example
 * const memory = createSharedMemory('Goal: review the change');
 * memory.write('one bug found', 'append');
 */
export function createSharedMemory(initial = ''): SharedMemory {
  let whole = initial;
  return {
    read: () => whole,
    write(added, mode) {
      if (mode === 'replace') whole = added;
      else whole = whole === '' ? added : `${whole}${whole.endsWith('\n') ? '' : '\n'}${added}`;
    },
  };
}

export interface MemoryUser {
  readonly agent: string;
  now(): number;
  note(note: StepNote): void;
}

const BETWEEN_TURNS =
  "the shared memory can't be reached from inside of a model call that runs tools itself: a replay of the run would not see it";

/** Returns the tools that reach the memory. They are tools of the step, outside effects, so that a replay rebuilds the memory. */
export function memoryTools(memory: SharedMemory, user: MemoryUser): readonly StepTool[] {
  const write = (added: string, mode: MemoryMode): string => {
    memory.write(added, mode);
    user.note({ kind: 'memory', mode, text: added });
    return mode === 'replace' ? 'The shared memory was replaced.' : 'Added to the shared memory.';
  };
  const read = {
    description: 'Read the memory that all agents of this run share.',
    inputSchema: schemaOf({}, []),
    onlyBetweenTurns: BETWEEN_TURNS,
    run: () => memory.read(),
  } as const;
  return [
    { ...read, name: 'shared_memory_read' },
    {
      name: 'shared_memory_write',
      description:
        'Write to the memory that all agents of this run share: append adds a line, replace overwrites everything.',
      inputSchema: schemaOf({ content: TEXT, mode: { type: 'string', enum: ['append', 'replace'] } }, ['content']),
      onlyBetweenTurns: BETWEEN_TURNS,
      run: (input) => write(requiredText(input, 'content'), input['mode'] === 'replace' ? 'replace' : 'append'),
    },
    { ...read, name: 'read_memory' },
    {
      name: 'write_memory',
      description: 'Add an entry, with the time and your name, to the memory that all agents of this run share.',
      inputSchema: schemaOf({ text: TEXT }, ['text']),
      onlyBetweenTurns: BETWEEN_TURNS,
      run: (input) =>
        write(`[${new Date(user.now()).toISOString()}] [${user.agent}] ${requiredText(input, 'text')}`, 'append'),
    },
  ];
}

const TEXT = { type: 'string' } as const;

function schemaOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The system prompt's text about the tools if the memory is not inserted before the prompt. */
export const MEMORY_ADDENDUM = [
  'You share a memory with the other agents of this run.',
  'Read it with shared_memory_read before you start, and write what others need to know with shared_memory_write.',
].join('\n');

/** Inserts the memory before a prompt; the prompt itself stays unchanged. An empty memory changes nothing. */
export function withMemory(memory: string, prompt: string): string {
  if (memory.trim() === '') return prompt;
  return `## Shared Memory (Current State)\n${memory}\n\n---\n\n${prompt}`;
}
