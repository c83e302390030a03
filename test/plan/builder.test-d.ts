import { expectTypeOf, test } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import type { PlanInput } from '../../src/plan/builder-input.js';

interface State {
  readonly who: string;
  readonly count: number;
}

test('a function of a plan with a declared state sees its channels, with their types', () => {
  definePlan<State>({
    name: 'p',
    nodes: [
      {
        id: 'a',
        output: 'x',
        run: (state) => {
          expectTypeOf(state.who).toEqualTypeOf<string>();
          expectTypeOf(state.count).toEqualTypeOf<number>();
        },
      },
    ],
  });
});

test('a channel that the state does not have must not compile', () => {
  // @ts-expect-error the state has no such channel
  const nodes: PlanInput<State>['nodes'] = [{ id: 'a', output: 'x', run: ({ nobody }) => String(nobody) }];
  expectTypeOf(nodes).toEqualTypeOf<PlanInput<State>['nodes']>();
});
