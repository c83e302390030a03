import type { Sample } from './judging.js';

const DAG = `
name: everything
description: All keys
inputs:
  topic: { description: What about, default: tides }
  free:
config:
  model: [openai/gpt-5-mini, ollama/qwen3]
  audit_dir: audits
  audit_retention: 3
  shared_memory: { enabled: true, inject_into_prompt: true, initial_content: Begin }
  provider: { type: openai-compatible, base_url: "http://127.0.0.1:1/v1", api_key_env: SOME_KEY }
  streaming: true
  log_level: debug
  agent_search_paths: [agents]
  max_concurrency: 2
  interactive: true
  truncate: { strategy: lines, limit: 40, keep: last }
  telemetry: { otlp_endpoint: "http://127.0.0.1:4318" }
agents:
  writer:
    inline:
      description: Writes
      prompt: You write about {{inputs.topic}}{{inputs.free}}.
      tools: [read_file, tickets/*, far/*]
      approve: write_file
      model: openai/gpt-5
      mcp-servers:
        tickets: { type: local, command: node, args: [server.mjs], env: { TOKEN: "\${TOKEN}" }, tools: [find] }
        far: { type: http, url: "https://tools.example/mcp", headers: { X-Key: "\${KEY}" } }
        plain: { command: node }
        other: { url: "https://tools.example/mcp" }
        gone: { disabled: true, command: 5 }
  reader: { file: agents/reader.md }
steps:
  - id: draft
    agent: writer
    prompt: Write.
    timeout: 90s
    retry_count: 2
    on_error: continue
    skills: [style.md]
    extra_dirs: [.]
    interactive: false
    model: openai/gpt-5-nano
  - id: check
    agent: reader
    depends_on: [draft]
    condition: { step: draft, contains: a, not_contains: b, equals: c, matches_json: { ok: true }, cel: size(output) > 1 }
    prompt: "{{steps.draft.output}}"
output: { steps: [check], format: plain, truncate: { limit: 5 } }
`;

const PIPELINE = `
version: "4"
metadata: { description: All keys }
models:
  thorough: { provider: anthropic, model: claude-sonnet-5, temperature: 0.5, top_p: 0.9, frequency_penalty: 0.1, presence_penalty: 0.1, max_tokens: 8000, seed: 1, parallel_tool_calls: false }
  near: { model: home/small, base_url: "http://127.0.0.1:2/v1", token_key: NEAR_KEY }
providers:
  home: { api_type: openai_chatcompletions, base_url: "http://127.0.0.1:1/v1", token_key: HOME_KEY, provider: openai }
mcps:
  tickets: { type: mcp, name: tickets, command: node, args: [server.mjs], env: { A: b }, tools: [find] }
  far: { remote: { url: "https://tools.example/mcp", transport_type: streamable, headers: { X: y } } }
permissions: { deny: ["shell:cmd=rm *"], allow: [write_file], ask: [fetch] }
agents:
  root:
    model: thorough
    fallback: { models: [near] }
    description: Reads
    instruction: You read.
    max_iterations: 20
    add_date: true
    add_environment_info: true
    toolsets:
      - { type: filesystem, tools: [read_file, list_directory], ignore_vcs: false }
      - { type: shell, tools: [shell] }
      - type: think
      - { type: todo, tools: [create_todo] }
      - type: memory
      - type: fetch
      - type: user_prompt
      - { type: mcp, ref: tickets, tools: [find] }
      - { type: mcp, remote: { url: "https://tools.example/mcp" } }
    structured_output:
      name: review
      description: A review
      strict: true
      schema:
        type: object
        properties: { ok: { type: boolean }, list: { type: array, items: { type: [string, "null"] } }, kind: { enum: [a, b] } }
        allOf: [{ not: { type: string } }]
        required: [ok]
workflow:
  max_loop_iterations: 3
  overrides: { max_loop_iterations: 4 }
  steps:
    - id: first
      type: agent
      name: root
      prompt: Go on.
      timeout: 90
      on_error: continue
      retry: { max_attempts: 2, backoff: exponential, initial_delay: 2s, jitter: 0.5, on: [timeout, "503"] }
    - { type: parallel, id: both, name: x, steps: [{ type: agent, name: root, retry: { retries: 1, initial_delay_seconds: 0.5, jitter: true } }, { type: agent, name: root }], timeout: 10m }
    - { type: sequence, id: line, steps: [{ type: agent, name: root }] }
    - { type: subworkflow, workflow: [{ type: agent, name: root }] }
    - { type: subworkflow, workflow: { max_loop_iterations: 2, steps: [{ type: agent, name: root }] } }
    - { type: map, id: each, over: "{{ $steps.first.output.list }}", as: thing, key: a.b, max_items: 5, concurrency: 2, on_item_error: continue, steps: [{ type: agent, name: root }] }
    - { type: ask, id: may, question: May I?, choices: ["yes", "no"], schema: { type: string }, expires: 24h, on_expire: { answer: "no" } }
    - { type: ask, question: And now?, on_expire: fail, on_error: continue }
    - { type: call, file: other.yaml, prompt: Go, inputs: { a: b } }
    - type: condition
      condition: "{{ $steps.first.output.ok }}"
      true: [{ type: agent, name: root }]
      false: { goto: first }
    - type: condition
      condition: "{{ $steps.first.output.ok }}"
      false: [{ type: goto, goto: first }]
`;

const AGENT = `---
name: reader
description: Reads
tools: read_file, grep
approve: [write_file]
model: [openai/gpt-5-mini, claude-haiku-4-5]
permissionMode: default
target: vscode
mcp-servers:
  tickets: { command: node, args: [server.mjs], env: { A: b }, cwd: null }
---
You read.
`;

const SCRIPT = `
strict: false
rules:
  - step: draft
    agent: writer
    prompt: tides
    repeat: true
    once: false
    optional: true
    answers:
      - plain
      - { text: I look., tools: [{ name: read_file, input: { path: a } }], usage: { input: 1, output: 2 } }
      - { json: { ok: true }, delay: 200ms, times: 2 }
      - { question: Which? }
      - { question: { text: Which?, choices: [a, b] } }
      - { error: { status: 503, message: later, retry_after: 2 } }
      - { error: { code: SKEIN_TIMEOUT } }
      - { text: half, cut: true }
      - { empty: true }
  - answer: { text: whole, delay: 1 }
answers:
  - { question: Which?, answer: b, times: 2 }
`;

/** A file of each kind with every key that it may have. */
export const WHOLE_FILES: readonly Sample[] = [
  { name: 'dag', file: 'whole-dag.yaml', text: DAG },
  { name: 'pipeline', file: 'whole-pipeline.yaml', text: PIPELINE },
  { name: 'agent', file: 'whole.agent.md', text: AGENT },
  { name: 'script', file: 'whole-script.yaml', text: SCRIPT },
];
