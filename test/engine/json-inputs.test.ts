import { describe, expect, test } from 'vitest';
import { checkPlan } from '../../src/plan/checks.js';
import type { CallNode, Plan } from '../../src/plan/plan.js';
import { plan, run, task, writes, type State } from './plans.js';

const inner = plan({
  nodes: ['note'],
  inputs: [{ channel: 'given', name: 'given', required: false }],
  channels: ['out'],
});

function calling(given: NonNullable<CallNode['inputs']>[string]): Plan {
  const call = { kind: 'call', id: 'sub', plan: inner, inputs: { given }, outputs: { out: 'out' } } as const;
  return plan({ nodes: [task('first'), call], edges: ['first>sub'], channels: ['answer', 'out'] });
}

describe('inputs of a sub-plan that are JSON templates', () => {
  test('are made of the state when the step starts, each value with its own type', async () => {
    const outer = calling({
      object: {
        score: { channel: 'answer', path: ['score'] },
        about: { template: ['score: ', { channel: 'answer', path: ['score'] }] },
        tags: { list: [{ value: 'x' }, { channel: 'answer', path: ['tags'] }] },
      },
    });
    const { result } = await run(outer, {
      first: writes({ answer: '{"score": 3, "tags": ["y"]}' }),
      'sub/note': ({ given }: State) => ({ out: given }),
    });
    expect(result.state['out']).toEqual({ score: 3, about: 'score: 3', tags: ['x', ['y']] });
  });

  test('fail the step where a path does not resolve', async () => {
    const { result } = await run(calling({ list: [{ channel: 'answer', path: ['none'] }] }), {
      first: writes({ answer: { score: 3 } }),
      'sub/note': writes({}),
    });
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TEMPLATE' } });
  });

  test('are checked: unknown references by their place, and a form that is not one', () => {
    const unknown = calling({ object: { a: { list: [{ template: ['x', { channel: 'nobody' }] }] } } });
    const closed = { ...unknown, nodes: unknown.nodes.map((node) => ({ ...node, writes: ['answer', 'out'] })) } as Plan;
    expect(checkPlan(closed).map(({ code, path }) => [code, path])).toEqual([
      ['unknown-reference', 'nodes[1].inputs.given.object.a.list[0].template[1]'],
    ]);
    const odd = calling({ object: { a: { list: 7 } } } as never);
    expect(checkPlan(odd).map(({ message }) => message)).toEqual([
      'nodes[1].inputs.given.object.a.list must be a list',
    ]);
  });
});
