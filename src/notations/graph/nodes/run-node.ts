import { checkOptions } from '../../../base/options.js';
import { present } from '../../../base/json.js';
import { refusal } from '../../../base/problem.js';
import { jsonOfList, jsonOfText } from '../../../lang/json-template.js';
import type { SandboxUse } from '../../../plan/agent-spec.js';
import { TextReader } from '../../../plan/builder.js';
import type { TaskNode } from '../../../plan/plan.js';
import { referencesOf } from '../../../plan/references.js';
import { COMMAND_MS, SHELL, type ToolUse } from '../../../plan/tool-use.js';
import type { NodeSpec } from './planned.js';
import { jsonSchemaOf, type SchemaInput } from '../../../plan/given-schema.js';

/** How a command runs as a node. In texts, `{{ key }}` is the value of that key of the state. */
export interface RunNodeOptions {
  /** The command's standard input. Default: none. */
  readonly stdin?: string;
  /** Variables in addition to the usual ones. `${NAME}` inserts an environment variable. */
  readonly env?: Readonly<Record<string, string>>;
  /** `text` (default): the output; an exit code other than 0 fails the node. `all`: `{ exit_code, stdout, stderr }`. */
  readonly result?: 'text' | 'all';
  /** The schema of the output. The result of the node is then the checked JSON. */
  readonly schema?: SchemaInput;
  /** If true, a person must allow the call. */
  readonly approve?: boolean;
  /** Where the command runs. Without it, the command may do whatever you may. */
  readonly sandbox?: SandboxUse;
}

/** The result of a command with `result: 'all'`. */
export interface CommandOutput {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command as a node, without a model: a program and its arguments, each one text, without a shell. Its output is the result of the
 * node. It times out after 10 minutes, unless the node has another `timeoutMs`.
 *
 * @example
 * const flow = graph<{ word: string }>().node('said', runNode(['echo', '{{ word }}'])).setEntry('said');
 * console.log((await flow.run({ word: 'hello' })).state.said); // hello
 */
export function runNode(
  argv: readonly string[],
  options: RunNodeOptions & { readonly result: 'all' },
): NodeSpec<CommandOutput>;
export function runNode<Output = string>(argv: readonly string[], options?: RunNodeOptions): NodeSpec<Output>;
export function runNode(argv: readonly string[], options: RunNodeOptions = {}): NodeSpec {
  checkOptions<RunNodeOptions>('runNode', options, {
    stdin: 'text',
    env: 'an object',
    result: 'text',
    schema: 'any',
    approve: 'true or false',
    sandbox: 'text',
  });
  const { stdin, env, result, schema, approve, sandbox } = options;
  const isCommand: boolean = Array.isArray(argv) && typeof argv[0] === 'string' && argv[0].trim() !== '';
  if (!isCommand)
    throw refusal('not-a-list', 'runNode needs a program and its arguments as a list', "runNode(['npm', 'test'])");
  const words = argv.map((word) => {
    const text = jsonOfText(TEXTS.template(word));
    return 'channel' in text ? { template: [text] } : text;
  });
  const tool: ToolUse = present({
    name: SHELL,
    input: { object: { argv: jsonOfList(words) } },
    stdin: stdin === undefined ? undefined : TEXTS.template(stdin),
    env: env && Object.fromEntries(Object.entries(env).map(([name, text]) => [name, TEXTS.template(text)])),
    result,
    schema: schema === undefined ? undefined : jsonSchemaOf(schema, 'the schema of a command'),
    approve: approve === true ? (true as const) : undefined,
    sandbox,
  });
  return {
    build: (name, output = name) => {
      const node: TaskNode = { id: name, kind: 'task', output, tool, timeoutMs: COMMAND_MS };
      return { node, reads: [...new Set(referencesOf(node).map(({ channel }) => channel))] };
    },
  };
}

const TEXTS = new TextReader(new Set());
