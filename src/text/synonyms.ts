/** Keys of workflow files, with the words of other systems for them. Of several keys with one word, the first present is meant. */
const SYNONYMS = Object.entries({
  name: 'title',
  id: 'name key title',
  depends_on: 'needs after requires dependencies depends',
  condition: 'if when only_if',
  as: 'item item_name item_var loop_var variable var',
  over: 'foreach for_each for-each each items list with_items matrix',
  type: 'if foreach for_each',
  retry_count: 'retry retries max_retries',
  retry: 'retries max_retries retry_count',
  on_error: 'continue-on-error continue_on_error allow_failure ignore_errors',
  timeout: 'timeout_seconds timeout_minutes timeout-minutes',
  instruction: 'instructions system system_prompt role',
  model: 'llm engine provider',
  providers: 'provider',
  toolsets: 'tools',
  tools: 'tools toolsets',
  inputs: 'params parameters vars variables args with input',
  prompt: 'instructions instruction system system_prompt role task message query question text input',
  description: 'role',
  structured_output: 'schema output_schema response_format',
  schema: 'schema',
  goto: 'target to next',
  true: 'then',
  false: 'else',
  agent: 'uses',
  file: 'uses',
  concurrency: 'max_concurrency max_parallel parallelism',
  max_loop_iterations: 'max_iterations',
  workflow: 'steps jobs tasks stages nodes',
  steps: 'steps workflow jobs tasks stages nodes',
  mcps: 'mcp mcp_servers mcpServers',
  'mcp-servers': 'mcp mcp_servers mcpServers',
}).map(([key, words]) => [key, words.split(' ')] as const);

/** A map that is a step of a workflow has these keys. */
const STEP = ['type', 'on_error'];

/** What other systems write as one key of a step, and what it takes here: more than another name. The first row that fits counts. */
const OTHERWISE: readonly {
  readonly words: string;
  readonly has?: string;
  readonly lacks?: string;
  readonly hint: string;
}[] = [
  {
    words: 'foreach for_each for-each each items over with_items map matrix strategy',
    lacks: 'over',
    hint: 'for each item of a list: type: map, with over: LIST and steps: [...]',
  },
  {
    words: 'loop while repeat until',
    lacks: 'until',
    hint: 'to repeat steps: type: loop, with until and steps: [...]; for each item of a list: type: map, with over',
  },
  { words: 'if unless', has: 'when', hint: 'when: CONDITION skips this step; type: condition chooses between steps' },
  {
    words: 'needs depends_on after requires dependencies depends',
    has: 'when',
    hint: 'steps run in the order of the file; type: parallel runs its steps at the same time',
  },
  {
    words: 'parallel',
    has: 'depends_on',
    hint: 'steps run at the same time unless one has depends_on: [ID of the other]',
  },
  { words: 'parallel', lacks: 'require', hint: 'to run steps at the same time: type: parallel, with steps: [...]' },
  {
    words: 'uses',
    has: 'when',
    lacks: 'file',
    hint: 'an agent is called by name: NAME, another file by type: call and file: PATH',
  },
  {
    words: 'with args params parameters vars variables inputs',
    lacks: 'inputs',
    hint: 'refer to the values in the prompt; only type: call, with file: PATH, has inputs',
  },
  { words: 'env environment', lacks: 'env', hint: 'only a step with run: [COMMAND, ...] has env' },
  {
    words: 'shell cmd command script',
    lacks: 'run',
    hint: 'to run a command: run: [COMMAND, ARGUMENT, ...], without a shell',
  },
];

/** Returns what to write in place of an unknown key that other systems have: another key, or another form. */
export function insteadOf(word: string, known: readonly string[]): string | undefined {
  const isStep = STEP.every((key) => known.includes(key));
  const other = OTHERWISE.find(
    ({ words, has, lacks }) =>
      words.split(' ').includes(word) &&
      (has === undefined || known.includes(has)) &&
      (lacks === undefined || !known.includes(lacks)),
  );
  if (isStep && other !== undefined) return other.hint;
  const key = meantBy(word, known);
  return key === undefined ? undefined : `did you mean ${JSON.stringify(key)}?`;
}

/** Returns the known key that a word of another system means. */
export function meantBy(word: string, known: readonly string[]): string | undefined {
  return SYNONYMS.find(([key, words]) => words.includes(word) && known.includes(key))?.[0];
}
