import { describe, expect, it } from 'vitest';
import type { TreeWorkflow } from '../../../src/notations/tree/definition.js';
import { walkTree } from '../../../src/notations/tree/definition.js';

const AGENT = { kind: 'agent', name: 'critic', prompt: 'You are a critic.', outputs: [] } as const;
const TREE: TreeWorkflow = {
  kind: 'workflow',
  name: 'review',
  inputs: [{ name: 'topic' }],
  sequences: [
    {
      kind: 'sequence',
      name: 'main',
      steps: [
        { kind: 'goal', name: 'draft', description: 'Write.', using: [AGENT], outputs: [] },
        { kind: 'convergence', name: 'polish', description: 'Polish.', within: 3, using: [], outputs: [] },
      ],
    },
  ],
};

describe('walking a tree', () => {
  it('[A2] gives every node before what stands in it, in declared order; parameters are not nodes', () => {
    expect([...walkTree(TREE)].map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'workflow review',
      'sequence main',
      'goal draft',
      'agent critic',
      'convergence polish',
    ]);
  });
});
