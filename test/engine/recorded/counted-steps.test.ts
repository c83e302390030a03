import { expect, test } from 'vitest';
import type { AgentNode } from '../../../src/plan/plan.js';
import type { StepContext } from '../../../src/engine/ports/executor.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';

const workflow = definePlan({
  name: 'cleaned',
  nodes: [{ id: 'a', kind: 'agent', agent: { instructions: ['x'], models: ['own/m'] }, prompt: 'x', output: 'a' }],
});

/** A body of which the work may change between sessions, and the end never does. */
function bodyOf(edition: string, performed: string[]) {
  return async (_node: AgentNode, step: StepContext) => {
    const work = () => performed.push(`work ${edition}`);
    await step.effect('work', () => String(work()), { identity: { digest: () => edition } });
    await step.effect('close', () => String(performed.push('close')), {
      identity: { digest: () => '' },
      cleanup: true,
    });
    return { type: 'done', output: edition } as const;
  };
}

test.each([
  ['one', 1, 0, ['close']],
  ['two', 0, 1, ['work two', 'close']],
])(
  'J3: a step is reused when nothing of it happened here; that its clean-up is recorded makes it none: %s',
  async (edition, reused, ran, expected) => {
    const store = memoryStore();
    const session = async (word: string, more: { readonly runId: string } | { readonly resume: string }) => {
      const performed: string[] = [];
      const executors = { agent: bodyOf(word, performed) };
      return { performed, result: await run(workflow, { store, executors, ...more }).result };
    };
    const first = await session('one', { runId: 'r' });
    expect([first.result.outcome, first.performed]).toEqual(['succeeded', ['work one', 'close']]);
    const { result, performed } = await session(edition, { resume: 'r' });
    expect([result.state['a'], result.reused, result.ran, performed]).toEqual([edition, reused, ran, expected]);
  },
);
