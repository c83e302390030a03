/**
 * Keys of workflow files, each with the words that other systems use for it. If a word is in several rows, the first key that the map has
 * is meant.
 */
const SYNONYMS = Object.entries({
  name: 'title',
  id: 'name key title',
  depends_on: 'needs after requires dependencies depends',
  condition: 'if when only_if',
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

/** Returns the known key that a word of another system means. */
export function meantBy(word: string, known: readonly string[]): string | undefined {
  return SYNONYMS.find(([key, words]) => words.includes(word) && known.includes(key))?.[0];
}
