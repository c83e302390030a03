import { unsupportedKeys, type LossRows } from '../../../text/unsupported.js';

const REMOVE = 'remove the key';
const STEPS = 'write the order of the agents as steps of workflow';
const SKILL = 'write the skill into the instruction of the agent';
const INTO_INSTRUCTION = 'write it into the instruction of the agent';
const FETCH_RULES = 'write rules under permissions, such as "fetch:url=https://example.com/*"';
const READONLY = 'name the tools that only read, such as tools: [read_file, list_directory]';
const EACH_MODEL = 'set it for each model';
const RANDOM = 'name several models in the agent, separated by commas; they are tried in order';

const TOOLSET: LossRows = {
  meaning: { instruction: INTO_INSTRUCTION },
  safety: { readonly: READONLY },
  nothing: {
    defer: 'the tools are there from the start',
    toon: 'results are passed on as they are',
    model: 'the agent continues with its own model after a tool call',
  },
};

/**
 * The keys of cagent files that Skein does not support, by what is lost. If meaning or safety is lost, the file does not load, unless it is
 * read leniently; otherwise the key is a warning.
 */
export const UNSUPPORTED = {
  file: unsupportedKeys({
    safety: { hooks: 'run the command in a step of its own' },
    meaning: {
      runtime: 'remove the section',
      skills: SKILL,
      toolsets: 'write the toolsets into each agent',
    },
    nothing: {
      rag: 'give the agent an MCP server that searches',
      audio: 'remove the section',
      evaluators: 'remove the section',
    },
  }),
  agent: unsupportedKeys({
    meaning: {
      sub_agents: STEPS,
      handoffs: STEPS,
      force_handoff: STEPS,
      rag: 'give the agent an MCP server that searches',
      skills: 'write the skill into the instruction',
      use_skills: 'write the skill into the instruction',
      use_toolsets: 'write the toolsets into the agent',
      add_prompt_files: 'write the text into the instruction',
      harness: 'give the agent a model',
    },
    safety: {
      hooks: 'run the command in a step of its own',
      readonly: READONLY,
      redact_secrets: 'keep secrets out of what the agent can read; keys that Skein knows never reach logs',
    },
    nothing: {
      commands: 'give the text as the prompt',
      use_commands: 'give the text as the prompt',
      code_mode_tools: 'the tools are called one by one',
      add_description_parameter: REMOVE,
      num_history_items: 'each step starts without a history',
      max_consecutive_tool_calls: 'use max_iterations',
      max_old_tool_call_tokens: REMOVE,
      session_compaction: REMOVE,
      session_compaction_threshold: REMOVE,
      welcome_message: REMOVE,
      name: 'the name of an agent is its key under agents',
    },
  }),
  fallback: unsupportedKeys({
    nothing: {
      retries: 'each model is tried three times; use retry of the step',
      cooldown: 'each step begins with the first model',
    },
  }),
  model: unsupportedKeys({
    nothing: {
      thinking_budget: 'the model thinks as much as it does by default',
      task_budget: 'use max_tokens',
      provider_opts: REMOVE,
      track_usage: 'usage is always counted',
      routing: RANDOM,
      bypass_models_gateway: 'there is no gateway',
      display_model: REMOVE,
      first_available: RANDOM,
    },
  }),
  provider: unsupportedKeys({
    meaning: { auth: 'write the variable that holds a key: token_key: NAME' },
    nothing: {
      temperature: EACH_MODEL,
      max_tokens: EACH_MODEL,
      top_p: EACH_MODEL,
      frequency_penalty: EACH_MODEL,
      presence_penalty: EACH_MODEL,
      thinking_budget: EACH_MODEL,
      task_budget: EACH_MODEL,
      parallel_tool_calls: EACH_MODEL,
      provider_opts: EACH_MODEL,
      track_usage: 'usage is always counted',
    },
  }),
  mcp: unsupportedKeys(TOOLSET, {
    meaning: { working_dir: 'servers run in the working directory; name the folder in args' },
    nothing: {
      config: 'set variables of the server with env',
      version: 'name the version in args',
      lifecycle: 'a server runs as long as the step',
      allow_private_ips: REMOVE,
    },
  }),
  remote: unsupportedKeys({ meaning: { oauth: 'put a token into headers: Authorization: "Bearer ${TOKEN}"' } }),
  filesystem: unsupportedKeys(TOOLSET, {
    meaning: { post_edit: 'run the command in a step of its own' },
    safety: {
      allow_list: 'the working directory is all that the agent sees: start the run in the folder',
      deny_list: 'write rules under permissions, such as "read_file:path=secret*"',
    },
  }),
  shell: unsupportedKeys(TOOLSET, {
    meaning: { env: 'programs get a short list of variables; set others in the command' },
    safety: { sandbox: 'write sandbox: on at the agent' },
    nothing: { sudo_askpass: 'programs have no terminal' },
  }),
  think: unsupportedKeys(TOOLSET),
  todo: unsupportedKeys(TOOLSET, {
    meaning: { shared: 'each step has a list of its own; use type: memory for what agents share' },
  }),
  memory: unsupportedKeys(TOOLSET, {
    meaning: { path: 'the memory is shared by all agents of a run and ends with it' },
    safety: { tools: 'all tools of the memory are there; use deny under permissions' },
  }),
  fetch: unsupportedKeys(TOOLSET, {
    safety: { allowed_domains: FETCH_RULES, blocked_domains: FETCH_RULES },
    nothing: { timeout: 'a page has 30 seconds' },
  }),
  user_prompt: unsupportedKeys(TOOLSET, { nothing: { tools: 'there is one tool' } }),
  /** Unsupported types of toolsets: the agent would lack their tools. */
  toolsets: unsupportedKeys({
    meaning: {
      a2a: 'reach the other agent as an MCP server',
      api: 'use type: fetch, or an MCP server',
      openapi: 'use type: fetch, or an MCP server',
      lsp: 'use type: shell with the compiler or linter',
      script: 'use type: shell',
      rag: 'use an MCP server that searches',
      tasks: 'use type: todo',
      plan: 'use type: todo',
      model_picker: 'name several models in the agent, separated by commas',
      background_agents: 'run agents side by side with a parallel step',
      transfer_task: 'run agents one after the other with steps',
      handoff: 'run agents one after the other with steps',
      open_url: 'use type: fetch',
      skills: SKILL,
    },
  }),
} as const;
