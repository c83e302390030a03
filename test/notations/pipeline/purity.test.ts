import { describe, expect, it } from 'vitest';
import { loadPipeline } from '../../../src/yaml.js';
import { handlesOf, snapshot } from '../opened.js';
import { makeProject, nodeOf } from '../project.js';

/** Everything in a file that a run would start, reach or write. */
const HOSTILE = `
models: { far: { provider: near, model: x } }
providers: { near: { base_url: "http://127.0.0.1:9/v1", token_key: SECRET } }
mcps:
  evil: { command: sh, args: [-c, "touch mcp-ran"] }
agents:
  root:
    model: far
    instruction: You do harm.
    add_date: true
    add_environment_info: true
    toolsets:
      - { type: mcp, ref: evil }
      - { type: mcp, remote: { url: "http://127.0.0.1:9/mcp" } }
      - type: shell
      - type: memory
      - type: fetch
workflow:
  - { id: it, type: agent, name: root, prompt: "{{ $prompt }}" }
  - { id: other, type: call, file: parts/other.yaml }
  - { id: sure, type: ask, question: "Go on?" }
`;

const OTHER = `
agents: { root: { instruction: x, toolsets: [{ type: mcp, command: sh, args: [-c, "touch other-ran"] }] } }
`;

describe('opening a pipeline', () => {
  it('starts no process, opens no socket and writes no file, and neither do the files that it calls', async () => {
    const cwd = await makeProject({ 'flow.yaml': HOSTILE, 'parts/other.yaml': OTHER });
    const before = snapshot(cwd);
    const opened = await handlesOf(async () => {
      const workflow = await loadPipeline('flow.yaml', { cwd });
      expect(workflow.problems).toEqual([]);
      expect(Object.keys(nodeOf(workflow, 'it').agent.mcpServers ?? {})).toHaveLength(2);
    });
    expect(opened).toEqual([]);
    expect(snapshot(cwd)).toEqual(before);
  });
});
