import type { Sample } from './judging.js';

const DAG = `
name: everything
description: All keys
inputs:
  topic: { description: What about, default: tides }
  free:
  many: { type: list, default: [a], enum: [[a], [b]] }
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
supervise: { model: openai/gpt-5, max_reorients: 2, instruction: "About {{inputs.topic}}" }
budget: { usd: 0.5, tokens: 200k, calls: 20, tool_calls: 1k, time: 10m, on_limit: { model: openai/gpt-5-nano }, unpriced: allow, strict: true, day: { usd: 5, tokens: 2m }, thread: { calls: 100, tool_calls: 9 } }
security: { mode: research, scope: the parser of this project, model: openai/gpt-5-mini }
hosts: [api.example.com, "*.example.org"]
commands: [[npm, test], [make]]
sends: [{ tool: tickets/close, fixed: { list: a, about: "{{inputs.topic}}", deep: { n: 1 } }, free: [body] }]
mcp-servers:
  tickets: { command: node, args: [server.mjs] }
agents:
  writer:
    inline:
      description: Writes
      prompt: You write about {{inputs.topic}}{{inputs.free}}.
      tools: [read_file, tickets/*, far/*]
      approve: write_file
      checks: [{ kind: banned_words, words: [lorem], direction: both }, { kind: max_length, characters: 900, on_violation: warn }, { kind: min_length, characters: 2 }, { kind: max_sentences, sentences: 9, message: Be brief. }, { kind: required_fields, fields: [ok] }, { kind: pattern, pattern: "^[A-Z]", ignore_case: true, matches: false }, { kind: json }]
      max_tokens: 900
      cache: "off"
      sandbox: "offline"
      model: openai/gpt-5
      mcp-servers:
        tickets: { type: local, command: node, args: [server.mjs], env: { TOKEN: "\${TOKEN}" }, tools: [find], sandbox: on }
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
    conversation: desk
    recent: 4
    afresh: true
    choose: { on: on, more: { step: off, about: There is more. } }
    supervise: { human: true }
    budget: { usd: 0.1, on_limit: stop }
    security: paranoid
    endorse: person
  - { id: on, budget: 2, agent: writer, depends_on: [draft], prompt: x, supervise: false }
  - { id: off, agent: writer, depends_on: [draft], prompt: x, schema: { ok: boolean, note?: string, all: [{ n: integer, kind: { enum: [a, b] } }], at: { line: number } } }
  - id: check
    agent: reader
    depends_on: [draft]
    condition: { step: draft, contains: a, not_contains: b, equals: c, matches_json: { ok: true }, cel: size(output) > 1 }
    prompt: "{{steps.draft.output}}"
  - id: again
    type: loop
    depends_on: [draft]
    condition: { step: draft, contains: a }
    until: { line: DONE }
    max_rounds: 3
    rounds: steps.draft.output.rounds
    keep: before
    on_limit: continue
    timeout: 10m
    retry_count: 1
    on_error: skip
    supervise: { instruction: Do it. }
    steps: [{ id: more, agent: writer, prompt: "{{steps.more.output?}}" }]
  - { id: each, type: map, depends_on: [draft], over: steps.draft.output.list, as: thing, key: a.b, max_items: 5, concurrency: 2, require: 2, supervise: { instruction: Do all. }, steps: [{ id: one, agent: writer, prompt: "{{thing.a}}" }] }
  - { id: every, type: map, depends_on: [draft], over: steps.draft.output.list, on_item_error: continue, steps: [{ id: uno, agent: writer, prompt: "{{index}} {{item}}" }] }
  - { id: may, type: ask, depends_on: [draft], question: "May I {{steps.draft.output}}?", choices: ["yes", "no"], schema: { type: string }, expires: 24h, on_expire: { answer: "no" }, on_error: continue }
  - { id: which, type: ask, depends_on: [draft], question: Which?, choices: [a, { value: b, text: why }] }
  - { id: other, type: call, depends_on: [draft], file: other.yaml, inputs: { a: [b, "{{steps.draft.output}}"], prompt: c }, timeout: 5m }
  - { id: nap, type: wait, for: 30s, event: paid, depends_on: [may], condition: { step: may, equals: "yes" } }
  - { id: stop, type: end, status: failed, reason: "{{steps.check.output}}", depends_on: [check], condition: { step: check, contains: a } }
  - { id: cmd, depends_on: [draft], run: [npm, test, "--", "{{ inputs.topic }}"], stdin: "x", env: { TOKEN: "\${TOKEN}", A: "" }, result: all, effect: read, sandbox: offline, approve: true, timeout: 5m, on_error: continue, budget: 2, retry_count: 1, condition: { step: draft, contains: a } }
  - { id: call, tool: tickets/find, input: { list: [1, "{{ inputs.topic }}"], deep: { a: true } }, schema: { ok: boolean }, effect: idempotent }
  - { id: made, type: set, depends_on: [check], condition: { step: check, contains: a }, on_error: continue, values: { n: 1, text: "{{= size(inputs.topic) }}", list: ["{{steps.check.output}}"] } }
finally: [{ id: sweep, agent: writer, prompt: "{{run.outcome}}" }]
output: { steps: [check], format: plain, truncate: { limit: 5 }, values: { said: "{{steps.check.output}}", more: [1, { x: "{{inputs.many.0}}" }] } }
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
  tickets: { type: mcp, name: tickets, command: node, args: [server.mjs], env: { A: b }, tools: [find], sandbox: on }
  far: { remote: { url: "https://tools.example/mcp", transport_type: streamable, headers: { X: y } } }
permissions: { deny: ["shell:cmd=rm *"], allow: [write_file], ask: [fetch] }
agents:
  sorter: { instruction: You sort. }
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
    checks: [{ kind: banned_words, words: [lorem], direction: both }, { kind: max_length, characters: 900, on_violation: warn }, { kind: min_length, characters: 2 }, { kind: max_sentences, sentences: 9, message: Be brief. }, { kind: required_fields, fields: [ok] }, { kind: pattern, pattern: "^[A-Z]", ignore_case: true, matches: false }, { kind: json }]
    cache: "off"
    sandbox: "offline"
    structured_output:
      name: review
      description: A review
      strict: true
      schema:
        type: object
        properties: { ok: { type: boolean }, list: { type: array, items: { type: [string, "null"] } }, kind: { enum: [a, b] } }
        allOf: [{ not: { type: string } }]
        required: [ok]
supervise: { model: thorough, max_reorients: 2, instruction: "About {{ $prompt }}" }
budget: { usd: 0.5, tokens: 200k, calls: 20, tool_calls: 1k, time: 10m, on_limit: { model: openai/gpt-5-nano }, unpriced: allow, strict: true, day: { usd: 5, tokens: 2m }, thread: { calls: 100, tool_calls: 9 } }
security: { mode: research, scope: the login page }
inputs: { topic: { description: About }, n: { type: number, enum: [1, 2], default: 1 } }
output: { values: { said: "{{ $steps.first.output }}", n: "{{ $inputs.n }}", topic: "{{ $inputs.topic }}" } }
hosts: [api.example.com, "*.example.org"]
commands: [[npm, test], [make]]
sends: [{ tool: tickets/close, fixed: { list: a, about: "{{prompt}}", deep: { n: 1 } }, free: [body] }]
finally: [{ type: agent, name: root, prompt: "{{ $run.outcome }}" }]
workflow:
  max_loop_iterations: 3
  overrides: { max_loop_iterations: 4 }
  context: [first]
  steps:
    - id: first
      type: agent
      name: root
      prompt: Go on.
      timeout: 90
      on_error: continue
      supervise: { human: true }
      budget: 20k-tokens, 3-calls
      security: { mode: paranoid, model: openai/gpt-5-mini }
      endorse: person
      retry: { max_attempts: 2, backoff: exponential, initial_delay: 2s, jitter: 0.5, on: [timeout, "503"] }
    - { type: parallel, id: both, name: x, require: 1, steps: [{ type: agent, name: root, retry: { retries: 1, initial_delay_seconds: 0.5, jitter: true } }, { type: agent, name: root }], timeout: 10m, supervise: false, budget: { calls: 5 } }
    - { type: sequence, id: line, steps: [{ type: agent, name: root }], supervise: { instruction: Do both., human: true } }
    - { type: subworkflow, workflow: [{ type: agent, name: root }] }
    - { type: subworkflow, workflow: { max_loop_iterations: 2, steps: [{ type: agent, name: root }] } }
    - { type: map, id: each, over: "{{ $steps.first.output.list }}", as: thing, key: a.b, max_items: 5, concurrency: 2, on_item_error: continue, supervise: { instruction: Do all., model: openai/gpt-5-mini, max_reorients: 3 }, steps: [{ type: agent, name: root }] }
    - { type: ask, id: may, question: May I?, choices: ["yes", "no"], schema: { ok: boolean }, expires: 24h, on_expire: { answer: { ok: true } } }
    - { type: ask, question: And now?, choices: [a, { value: b, text: why }], on_expire: fail, on_error: continue }
    - { type: call, file: other.yaml, prompt: Go, inputs: { a: b } }
    - type: condition
      condition: "{{ $steps.first.output.ok }}"
      true: [{ type: agent, name: root }]
      false: { goto: first }
    - type: condition
      condition: "{{ $steps.first.output.ok }}"
      false: [{ type: goto, goto: first, max: 2, on_limit: continue }]
    - { type: loop, id: again, until: { line: DONE }, max_rounds: 3, rounds: "{{ $steps.first.output.list[0] }}", keep: before, on_limit: continue, timeout: 10m, supervise: { instruction: Do it. }, steps: [{ type: agent, name: root }] }
    - id: sort
      type: agent
      name: sorter
      context: none
      conversation: desk
      recent: 4
      afresh: true
      choose: { one: [{ type: agent, name: root }], two: { about: It is two., steps: [{ type: agent, name: root }] }, three: { goto: done } }
    - { type: set, id: made, values: { n: 1, text: "{{= size($inputs.topic) }}", list: ["{{ $steps.first.output }}"] }, when: "{{ $steps.first.output.ok }}", on_error: continue }
    - { type: agent, id: done, name: root, when: "{{ $steps.first.output.ok }}", schema: { ok: boolean, note?: string, all: [{ n: integer, kind: { enum: [a, b] } }], at: { line: number } } }
    - { type: wait, id: nap, for: 30s, when: "{{ $steps.first.output.ok }}" }
    - { type: wait, event: paid, for: 90, on_error: continue }
    - type: condition
      cases:
        - { when: "{{ $steps.first.output.ok }}", steps: [{ type: agent, name: root }] }
        - { when: '{{ $steps.first.output.list == ["a"] }}', goto: done, max: 3 }
      else: [{ type: agent, name: root }]
    - { type: condition, condition: "{{ $steps.first.output.ok }}", true: [{ type: end, status: failed, reason: "{{ $steps.first.output.ok }}" }] }
    - { id: cmd, run: [npm, test, "--", "{{ $prompt }}"], stdin: "x", env: { TOKEN: "\${TOKEN}", A: "" }, result: all, effect: read, sandbox: offline, approve: true, timeout: 5m, on_error: continue, budget: 2, retry: { max_attempts: 1 }, when: "{{ $prompt }}" }
    - { id: call, tool: tickets/find, input: { list: [1, "{{ $prompt }}"], deep: { a: true } }, schema: { ok: boolean }, effect: idempotent }
`;

const AGENT = `---
name: reader
description: Reads
tools: read_file, grep
approve: [write_file]
checks: [{ kind: banned_words, words: [lorem], direction: both }, { kind: max_length, characters: 900, on_violation: warn }, { kind: min_length, characters: 2 }, { kind: max_sentences, sentences: 9, message: Be brief. }, { kind: required_fields, fields: [ok] }, { kind: pattern, pattern: "^[A-Z]", ignore_case: true, matches: false }, { kind: json }]
max_tokens: 900
cache: "off"
sandbox: "offline"
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
  - { step: draft, phase: commit, answer: { json: { interpretation: all } } }
answers:
  - { question: Which?, answer: b, times: 2 }
tools:
  - { tool: find, input: { id: 7 }, result: { found: true } }
`;

const PACK = `
$schema: https://promptpack.org/schema/latest/promptpack.schema.json
id: whole
name: Whole
version: v1.0.0
description: all keys
template_engine: { version: v1, syntax: "{{variable}}", features: [basic_substitution, fragments] }
metadata: { domain: support, language: en, tags: [a], cost_estimate: { min_cost_usd: 0.1, max_cost_usd: 1, avg_cost_usd: 0.5 } }
compilation: { compiled_with: packc, created_at: "2026-01-01", schema: v1, source: a.yaml }
fragments: { tone: Be kind. }
tools:
  find: { name: find, description: finds, parameters: { type: object, properties: { q: { type: string } }, required: [q] } }
skills: [skills, { path: skills/a, preload: true }, { name: s, description: says, instructions: Rhyme. }]
evals:
  - id: e
    type: contains
    trigger: every_turn
    description: says it
    sample_percentage: 5
    enabled: true
    params: { a: 1 }
    metric: { name: m, type: gauge, range: { min: 0, max: 1 } }
    threshold: { operator: gt, value: 1 }
    message: no
    when: { a: 1 }
    groups: [a]
prompts:
  chat:
    id: chat
    name: Chat
    description: talks
    version: 1.0.0
    system_template: "{{fragments.tone}} {{name}}"
    variables:
      - name: name
        type: string
        required: false
        default: Ada
        description: who
        example: Bob
        validation: { pattern: "^[A-Z]", min_length: 1, max_length: 9, minimum: 0, maximum: 9, enum: [Ada, Bob] }
        binding: { kind: user, field: name, auto_populate: true, filter: a }
    tools: [find]
    tool_policy: { tool_choice: auto, max_rounds: 3, max_tool_calls_per_turn: 5, blocklist: [drop] }
    pipeline: { stages: [a], middleware: [{ type: a, config: { b: 1 } }] }
    parameters: { temperature: 0.5, max_tokens: 5, top_p: 0.5, top_k: 5, frequency_penalty: 0.5, presence_penalty: 0.5 }
    validators: [{ type: banned_words, enabled: true, fail_on_violation: true, params: { words: [a] }, message: no }]
    evals: [{ id: own, type: contains, trigger: sample_turns }]
    tested_models: [{ provider: p, model: m, date: d, success_rate: 0.5, avg_tokens: 1, avg_cost: 1, avg_latency_ms: 1, notes: n }]
    model_overrides: { big: { system_template_prefix: a, system_template_suffix: b, system_template: c, parameters: { temperature: 1 } } }
    media:
      enabled: true
      supported_types: [image]
      image: { max_size_mb: 1, allowed_formats: [png], default_detail: low, require_caption: true, max_images_per_msg: 1 }
      audio: { max_size_mb: 1, allowed_formats: [mp3], max_duration_sec: 1, require_metadata: true }
      video: { max_size_mb: 1, allowed_formats: [mp4], max_duration_sec: 1, require_metadata: true }
      document: { max_size_mb: 1, allowed_formats: [pdf], max_pages: 1, require_metadata: true, extraction_mode: text }
      examples: [{ role: user }]
workflow:
  version: 2
  entry: talk
  engine:
    budget: { max_total_visits: 50, max_tool_calls: 5, max_wall_time_sec: 5 }
    skein:
      supervise: { human: false, model: openai/gpt-5-mini, max_reorients: 2 }
      hosts: [api.example.com]
      commands: [[npm, test]]
      sends: [{ tool: kit/send, fixed: { to: a }, free: [body] }]
      security: default
      states: { talk: { supervise: { human: true }, endorse: person, security: { mode: research, scope: the login page, model: openai/gpt-5-mini } }, work: { supervise: { instruction: Do it. } }, end: { supervise: false } }
  states:
    talk:
      prompt_task: chat
      description: talks
      on_event: { Work: work }
      persistence: persistent
      orchestration: hybrid
      skills: none
      max_visits: 3
      on_max_visits: end
      artifacts: { notes: { type: text/plain, description: notes, mode: append } }
    work: { orchestration: composition, composition: flow, on_event: { Done: end } }
    end: { prompt_task: chat, terminal: true }
agents:
  entry: chat
  members: { chat: { description: talks, tags: [a], input_modes: [text/plain], output_modes: [text/plain], state: talk } }
compositions:
  flow:
    version: 1
    description: works
    input_schema: a
    output_schema: b
    output: say
    engine: { a: 1, skein: { supervise: true } }
    steps:
      - id: say
        kind: prompt
        description: says
        depends_on: []
        modifiers: { retry: { max_attempts: 2 }, eval: [e] }
        prompt_task: chat
        input: "\${input.text}"
        output_schema: s
      - { id: act, kind: agent, prompt_task: chat, input: { a: b }, tools: [find], termination: { max_steps: 2, tool_called: find } }
      - { id: call, kind: tool, tool: find, args: { q: a } }
      - { id: pick, kind: branch, predicate: { all_of: [{ path: a, op: equals, value: 1 }, { any_of: [{ path: b, exists: true }] }, { not: { path: c, exists: true } }] }, then: say, else: call }
      - id: both
        kind: parallel
        depends_on: [pick]
        branches: [{ id: one, kind: tool, tool: find }, { id: two, kind: tool, tool: find }]
        reduce: { strategy: append, into: all }
`;

/** A file of each kind with every key that it may have. */
export const WHOLE_FILES: readonly Sample[] = [
  { name: 'dag', file: 'whole-dag.yaml', text: DAG },
  { name: 'machine', file: 'whole.pack.yaml', text: PACK },
  { name: 'pipeline', file: 'whole-pipeline.yaml', text: PIPELINE },
  { name: 'agent', file: 'whole.agent.md', text: AGENT },
  { name: 'script', file: 'whole-script.yaml', text: SCRIPT },
];
