import { describe, expect, it } from 'vitest';
import { memoryStore, run } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import { packWorkflow } from 'skein/machine';
import { ownModels } from '../../graph/support-agents.js';
import { go, packOf, set, speakerOf } from '../support/talking.js';

const PACK = packOf(
  {
    triage: { on_event: { Refund: 'refund', Other: 'desk' }, artifacts: { note: { type: 'text/plain' } } },
    refund: { terminal: true },
    desk: { orchestration: 'external', on_event: { Close: 'refund' } },
  },
  { prompts: { p0: { variables: [{ name: 'company', type: 'string', required: true }] } } },
  { triage: 'You are triage. [{{company}}]' },
);

function models(first: readonly (readonly [string, object])[]) {
  const own = ownModels({ m: (request) => (speakerOf(request) === 'triage' ? { calls: first } : 'Refunded.') });
  return { ...own, models: { ...own.models, override: 'own/m' } };
}

describe('a pack as a node', () => {
  it('[A14] of a graph takes a message and variables, has one turn, and gives text, state, complete and artifacts', async () => {
    const flow = graph<{ message: string; company: string; support: unknown }>()
      .node('support', workflowNode(await packWorkflow(PACK), 'support', { taskParam: null, projectState: true }))
      .node('after', ({ support }) => `after ${JSON.stringify(support)}`)
      .setEntry('support');
    const { models: given, requests } = models([set('note', 'paid twice'), go('Refund')]);
    const { state, error, nodesRun } = await flow.run(
      { message: 'I paid twice.', company: 'Loom' },
      { models: given, store: memoryStore() },
    );
    expect(error).toBeUndefined();
    const support = { text: 'Refunded.', state: 'refund', complete: true, artifacts: { note: 'paid twice' } };
    expect([state['support'], nodesRun]).toEqual([support, ['support', 'after']]);
    expect(requests[0]?.messages[0]).toMatchObject({ text: 'You are triage. [Loom]' });
  });

  it('[A14] stands where its turn ended', async () => {
    const { models: given } = models([go('Other')]);
    const { result } = run(await packWorkflow(PACK), { inputs: { message: 'Hi.', company: 'Loom' }, models: given });
    expect(await result).toMatchObject({
      outcome: 'succeeded',
      state: { text: '', state: 'desk', complete: false, artifacts: {} },
    });
  });

  it('[A14] without a variable that it needs fails before the first call', async () => {
    const { models: given, requests } = models([]);
    const { outcome, error } = await run(await packWorkflow(PACK), { inputs: { message: 'Hi.' }, models: given })
      .result;
    expect([outcome, error?.code, requests.length]).toEqual(['failed', 'SKEIN_INPUT', 0]);
  });

  it.each([
    [5, 'a number'],
    [{ text: 'Hi.' }, 'an object'],
    ['', 'an empty text'],
  ])('[A10] [A14] takes a text alone: %j is refused before the first call', async (message, what) => {
    const { models: given, requests } = models([]);
    const { outcome, error } = await run(await packWorkflow(PACK), {
      inputs: { message, company: 'Loom' },
      models: given,
    }).result;
    expect([outcome, error?.code, requests.length]).toEqual(['failed', 'SKEIN_INPUT', 0]);
    expect(error?.message).toBe(`a message must be a text, not ${what}`);
  });

  it('[A14] [D6] that is out of budget ends the run around it so', async () => {
    const states = { a: { on_event: { Go: 'b' } }, b: { on_event: { Go: 'a' } } };
    const bounded = packOf(states, { workflow: { engine: { budget: { max_total_visits: 2 } } } });
    const flow = graph<{ message: string }>()
      .node('loop', workflowNode(await packWorkflow(bounded), 'loop', { taskParam: 'message' }))
      .node('after', ({ loop }) => `after ${String(loop)}`)
      .setEntry('loop');
    const own = ownModels({ m: () => ({ calls: [go('Go')] }) });
    const { outcome, error, nodesRun } = await flow.run(
      { message: 'Go.' },
      { models: { ...own.models, override: 'own/m' } },
    );
    expect([outcome, error?.code, nodesRun.includes('after')]).toEqual(['out_of_budget', 'SKEIN_BUDGET', false]);
  });
});
