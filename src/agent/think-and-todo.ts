import { SkeinError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import { didYouMean } from '../base/suggest.js';
import type { StepTool } from './tool.js';
import { requiredText } from './tools/tool-input.js';

/** Stands for all todo tools in an agent's list of tools. */
export const TODO = 'todo';

const STATUSES = ['pending', 'in-progress', 'completed'] as const;

/** A larger list would fill the conversation. */
const MOST_TODOS = 500;

interface Todo {
  readonly id: string;
  readonly description: string;
  readonly status: string;
}

const BETWEEN_TURNS =
  "the list of todos can't be reached from inside of a model call that runs tools itself: a replay of the run would not see it";

const TEXT = { type: 'string', minLength: 1, maxLength: 2_000 } as const;

/** Returns the tools of a step's own todo list. They are outside effects, so that a replay rebuilds the same list. */
export function todoTools(): readonly StepTool[] {
  const todos = new Map<string, Todo>();
  const add = (descriptions: readonly string[]): string => {
    if (todos.size + descriptions.length > MOST_TODOS)
      throw new SkeinError('SKEIN_TOOL_FAILED', `the list takes at most ${MOST_TODOS} todos`);
    const made = descriptions.map((description) => {
      const todo = { id: `todo_${todos.size + 1}`, description, status: STATUSES[0] };
      todos.set(todo.id, todo);
      return todo;
    });
    return made.map(show).join('\n');
  };
  const update = (id: string, status: string): string => {
    const todo = todos.get(id);
    if (todo === undefined) throw unknownTodo(id, [...todos.keys()]);
    const changed = { ...todo, status };
    todos.set(id, changed);
    return show(changed);
  };
  return [
    stepTool('create_todo', 'Add one thing to do to your list.', { description: TEXT }, (input) =>
      add([requiredText(input, 'description')]),
    ),
    stepTool(
      'create_todos',
      'Add several things to do to your list, in their order.',
      { descriptions: { type: 'array', items: TEXT, minItems: 1 } },
      (input) => add([input['descriptions'] ?? []].flat().filter((one) => typeof one === 'string')),
    ),
    stepTool(
      'update_todo',
      'Change how far a thing of your list is: pending, in-progress or completed.',
      { id: { type: 'string', description: 'Such as todo_1.' }, status: { type: 'string', enum: STATUSES } },
      (input) => update(requiredText(input, 'id'), requiredText(input, 'status')),
    ),
    stepTool('list_todos', 'Show your list of things to do.', {}, () =>
      todos.size === 0 ? 'The list is empty.' : [...todos.values()].map(show).join('\n'),
    ),
  ];
}

function stepTool(
  name: string,
  description: string,
  properties: JsonObject,
  run: (input: JsonObject) => string,
): StepTool {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
  return { name, description, inputSchema, onlyBetweenTurns: BETWEEN_TURNS, run };
}

function show({ id, description, status }: Todo): string {
  return `[${id}] ${status}: ${description.replaceAll(/\s+/g, ' ').trim()}`;
}

function unknownTodo(id: string, known: readonly string[]): SkeinError {
  const hint = didYouMean(id, known) ?? (known.length === 0 ? 'the list is empty' : `there are ${known.join(', ')}`);
  return new SkeinError('SKEIN_TOOL_FAILED', `there is no todo ${JSON.stringify(id)}`, { hint });
}

/** Name of the tool with which an agent writes down a thought. */
export const THINK = 'think';

/** The tool `think(thought)`: only returns the thought, so that the model sees it again. */
export const thinkTool: StepTool = {
  name: THINK,
  description:
    'Write down a thought. It reads nothing and changes nothing; use it to reason about what you know before you act.',
  inputSchema: {
    type: 'object',
    properties: { thought: { type: 'string', description: 'What you think.' } },
    required: ['thought'],
    additionalProperties: false,
  },
  run: (input) => requiredText(input, 'thought'),
};
