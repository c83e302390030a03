import { describe, expect, it } from 'vitest';
import { memoryStore, runWorkflow } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import { ownModels, promptOf } from '../graph/support-agents.js';

const DAG = `name: d
agents: { w: { inline: { prompt: You write. } } }
steps:
  - { id: zero, agent: w, prompt: Z }
  - { id: fetch, agent: w, prompt: F, on_error: continue }
  - { id: report, agent: w, depends_on: [fetch, zero], prompt: "Status {{steps.fetch.status}}" }
  - { id: other, agent: w, depends_on: [zero], prompt: "Status {{steps.zero.status}}" }
`;
const PIPELINE = `agents: { w: { instruction: You write. } }
workflow:
  context: none
  steps:
    - { id: zero, type: agent, name: w, prompt: Z }
    - { id: fetch, type: agent, name: w, prompt: F, on_error: continue }
    - { id: report, type: agent, name: w, prompt: "Status {{ $steps.fetch.status }}" }
    - { id: other, type: agent, name: w, prompt: "Status {{ $steps.zero.status }}" }
`;

describe('[addition 7] how a step ended is part of what a step has read', () => {
  it.each([
    ['a DAG workflow', DAG],
    ['a pipeline', PIPELINE],
  ])('%s: a resume on which the failed step succeeds runs again what reads that, and nothing else', async (_, text) => {
    const workflow = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
    expect(workflow.problems).toEqual([]);
    let isBroken = true;
    const { models, requests } = ownModels({
      m: ({ caller }) => {
        if (caller.path === 'fetch' && isBroken) throw new Error('no network');
        return 'ok';
      },
    });
    const store = memoryStore();
    const options = { store, audit: false, models: { ...models, override: 'own/m' } } as const;
    const asked = (): readonly string[] =>
      requests.splice(0).map((request) => `${request.caller.path}: ${promptOf(request).split('\n').at(-1) ?? ''}`);
    const first = await runWorkflow(workflow, options);
    const ended = await first.result;
    expect(ended.outcome).toBe('degraded');
    expect(asked()).toEqual(expect.arrayContaining(['report: Status failed', 'other: Status succeeded']));
    isBroken = false;
    const again = await runWorkflow(workflow, { ...options, resume: ended.runId });
    expect((await again.result).outcome).toBe('succeeded');
    expect(asked()).toEqual(['fetch: F', 'report: Status succeeded']);
    const fork = await runWorkflow(workflow, { ...options, fork: { run: ended.runId } });
    expect((await fork.result).outcome).toBe('succeeded');
    expect(asked()).toEqual([]);
  });
});
