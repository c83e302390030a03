import { describe, expect, it } from 'vitest';
import { answerRun, definePlan, memoryStore, readRun, run } from 'skein';
import type { SkeinEvent } from 'skein';

/** Asks, then fails until the block around it is tried again. */
const inner = definePlan({
  name: 'inner',
  inputs: [{ name: 'item', required: false }],
  nodes: [
    {
      id: 'gate',
      output: 'ok',
      run: async (_, step) => {
        const answer = await step.ask({ text: 'Go?', choices: ['yes', 'no'] });
        if (!step.path.includes('~2')) throw new Error('the first time it fails');
        return answer;
      },
    },
  ],
});

const shared = {
  id: 'block',
  plan: inner,
  retry: { retries: 1, on: 'any', delayMs: 1, backoff: 'fixed' },
} as const;
const outputs = { ok: 'ok' };
const over = { channel: 'list' };

const BLOCKS = [
  ['call', { ...shared, kind: 'call', outputs }, 'block~2/gate', 'yes'],
  ['loop', { ...shared, kind: 'loop', until: () => true, maxRounds: 2, outputs }, 'block~2#1/gate', 'yes'],
  [
    'map',
    { ...shared, kind: 'map', over, item: 'item', result: 'ok', output: 'ok', maxItems: 2 },
    'block~2[0]/gate',
    ['yes'],
  ],
] as const;

describe('[XG7] a question inside a block that is tried again', () => {
  it.each(BLOCKS)('is told by the result and the events of the paused run: %s', async (_, block, step, ok) => {
    const list = { id: 'list', output: 'list', run: () => ['a'] };
    const workflow = definePlan({ name: 'blocks', nodes: [list, block], edges: [['list', 'block']] });
    const store = memoryStore();
    const { runId } = await run(workflow, { store }).result;
    answerRun(store, runId, { value: 'yes' });
    const events: SkeinEvent[] = [];
    const paused = await run(workflow, { store, resume: runId, listeners: [(event) => events.push(event)] }).result;
    expect(paused.outcome).toBe('paused');
    expect(paused.questions.map(({ key }) => key)).toEqual([`${step}@ask:1`]);
    expect(paused.questions).toEqual(readRun(store, runId).questions);
    // The note stands between the start and the end of the step that asks.
    const ofStep = events.filter(({ path }) => path === step);
    expect(ofStep.map((event) => (event.type === 'step.note' ? event.note.kind : event.type))).toEqual([
      'step.started',
      'question',
      'step.ended',
    ]);
    expect(ofStep[1]?.parent).toBe(ofStep[0]?.parent);
    answerRun(store, runId, { value: 'yes' });
    const { outcome, state } = await run(workflow, { store, resume: runId }).result;
    expect([outcome, state['ok']]).toEqual(['succeeded', ok]);
  });
});
