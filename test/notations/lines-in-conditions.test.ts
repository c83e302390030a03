import { describe, expect, it } from 'vitest';
import { runWorkflow } from 'skein';
import type { WorkflowRunOptions } from 'skein';
import { loadWorkflowText } from 'skein/yaml';
import { ownModels } from '../graph/support-agents.js';

/** Runs a workflow file; the step `draft` gives these texts in turn. Gives the steps that were asked, in order. */
async function ran(text: string, drafts: readonly string[], inputs: object = {}): Promise<readonly string[]> {
  const workflow = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
  expect(workflow.problems).toEqual([]);
  let count = 0;
  const answer = (path: string): string => (path.startsWith('draft') ? (drafts[count++] ?? 'none') : 'ok');
  const { models, requests } = ownModels({ m: ({ caller }) => answer(caller.path) });
  const options: WorkflowRunOptions = { audit: false, models: { ...models, override: 'own/m' }, inputs: { ...inputs } };
  const { result } = await runWorkflow(workflow, options);
  expect((await result).outcome).toBe('succeeded');
  return requests.map(({ caller }) => caller.path);
}

const PIPELINE = `agents:
  writer: { instruction: You write. }
workflow:
  max_loop_iterations: 5
  steps:
    - { id: draft, type: agent, name: writer }
    - type: condition
      condition: "{{ $steps.draft.output.hasLine('CONVERGED') }}"
      false: [{ goto: draft }]
`;

const DAG = `name: lines
agents: { w: { inline: { prompt: You answer., tools: [] } } }
steps:
  - { id: draft, agent: w, prompt: Write. }
  - id: publish
    agent: w
    prompt: Publish.
    depends_on: [draft]
    condition: { step: draft, cel: "output.hasLine('CONVERGED')" }
`;

describe('[A26] [decision 4] a line in a condition', () => {
  it('ends a loop of a pipeline; [bad input] the word in a sentence does not', async () => {
    const texts = ['we have CONVERGED', 'UNCONVERGED', 'fine\n  CONVERGED '];
    expect(await ran(PIPELINE, texts, { prompt: 'go' })).toEqual(['draft', 'draft#2', 'draft#3']);
  });

  it.each([
    ['fine\nCONVERGED\n', ['draft', 'publish']],
    ['it CONVERGED', ['draft']],
  ])('decides about a step of a DAG workflow: %j', async (text, steps) => {
    expect(await ran(DAG, [text])).toEqual(steps);
  });
});
