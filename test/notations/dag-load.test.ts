import { describe, expect, it } from 'vitest';
import { flow, load, nodeOf, planOf } from './project.js';

describe('a DAG workflow file', () => {
  it('becomes a plan: steps are agent nodes, depends_on are edges, inputs and outputs are channels', async () => {
    const workflow = await load(
      flow(
        '  - {id: scan, agent: a, prompt: "Look at {{inputs.topic}}"}\n' +
          '  - {id: report, agent: a, prompt: "Sum up {{ steps.scan.output }}", depends_on: [scan]}\n',
        'inputs:\n  topic: {description: What to look at}\n',
      ),
    );
    expect(workflow.problems).toEqual([]);
    const plan = planOf(workflow);
    expect(plan.notation).toBe('dag');
    expect(plan.edges).toEqual([{ from: 'scan', to: 'report' }]);
    expect(plan.inputs).toMatchObject([{ channel: 'inputs.topic', name: 'topic', required: true }]);
    expect(nodeOf(workflow, 'report')).toMatchObject({
      kind: 'agent',
      join: 'settled',
      output: 'steps.report.output',
      writes: ['steps.report.output'],
      onError: 'fail',
      prompt: ['Sum up ', { channel: 'steps.scan.output' }],
      agent: { name: 'a', instructions: ['You help.'], models: [] },
    });
  });
});
