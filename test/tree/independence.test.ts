import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agent, convergence, goal, sequence, workflow } from '../../src/tree.js';
import type { Node } from '../../src/tree.js';
import { definitionOf } from '../../src/tree/objects.js';

/** Ways to change something after it was composed. */
const CHANGES: Readonly<Record<string, (part: Parts) => unknown>> = {
  'an agent gets a task': ({ critic }) => critic.task('Something else.'),
  'an agent gets fields': ({ critic }) => critic.withOutputs('late', { strict: true }),
  'an agent is customized': ({ critic }) => critic.customize({ model: 'own/late', systemContext: 'Late.' }),
  'a goal gets agents': ({ draft, critic }) => draft.using(critic),
  'a goal gets fields': ({ draft }) => draft.withOutputs('late'),
  'a goal is supervised': ({ draft }) => draft.supervise(),
  'a convergence gets agents': ({ polish, critic }) => polish.using(critic),
  'a convergence has another cap': ({ polish }) => polish.withinVar('late', 3),
  'a convergence is not supervised': ({ polish }) => polish.unsupervised(),
  'a sequence gets steps': ({ main, draft }) => main.steps(draft),
  'a sequence is customized': ({ main }) => main.customize({ tools: ['read_file'] }),
  'a sequence has a gate': ({ main }) => main.superviseByHuman(),
  'the lists that were given change': ({ fields, tools }) => [fields.push('late'), tools.push('shell')],
  'a copy that a walk gave changes': ({ flow }) => deepest(flow),
};

function deepest(node: Node): unknown {
  const [child] = node.children;
  return child === undefined
    ? (node as ReturnType<typeof agent>).task('Changed on a walk.')
    : [deepest(child), ...node.children];
}

type Parts = ReturnType<typeof parts>;

function parts() {
  const fields = ['title'];
  const tools = ['read_file'];
  const critic = agent('critic', 'You are a critic.').customize({ tools, systemContext: 'Be strict.' });
  const draft = goal('draft', 'Write.')
    .withOutputs(...fields)
    .using(critic, critic);
  const polish = convergence('polish', 'Polish $draft.', 4).using(critic).supervise();
  const main = sequence('main').steps(draft, polish).steps(draft);
  const flow = workflow('flow').input({ name: 'topic', default: '' }).add(main, main);
  return { fields, tools, critic, draft, polish, main, flow };
}

describe('what is composed', () => {
  it('[A3] is independent: nothing that is done to a part later changes what holds a copy of it', () => {
    const names = Object.keys(CHANGES);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }), (changes) => {
        const made = parts();
        const before = JSON.stringify(definitionOf(made.flow));
        for (const change of changes) CHANGES[change]?.(made);
        expect(JSON.stringify(definitionOf(made.flow))).toBe(before);
      }),
      { numRuns: 100 },
    );
  });

  it('[A3] an agent in two goals is two agents, each as it was when it was taken', () => {
    const critic = agent('critic', 'You.').task('First.');
    const first = goal('a', 'Do.').using(critic);
    const second = goal('b', 'Do.').using(critic.task('Second.'));
    const [one, other] = [first, second].map(({ children }) => children[0]);
    expect(one).not.toBe(other);
    const flow = workflow('f').add(sequence('s').steps(first, second));
    expect(JSON.stringify(definitionOf(flow))).toMatch(/"task":"First\.".*"task":"Second\."/);
  });

  it('[decision 1] [A1] [A5] every method gives its receiver; adding adds, customizing replaces', () => {
    const flow = workflow('f');
    expect(flow.input('a').input('b').security('default').scope('x').supervise().unsupervised().add()).toBe(flow);
    const draft = goal('g', 'Do.');
    expect(draft.using().withOutputs('a').withOutputs('b').customize({}).superviseByHuman()).toBe(draft);
    const one = agent('a', 'You.');
    expect(one.task('Do.').withOutputs('x').customize({ systemContext: 'A' }).customize({ model: 'own/m' })).toBe(one);
    const whole = definitionOf(workflow('f').add(sequence('s').steps(draft, one)));
    expect(whole.sequences[0]?.steps.map(({ outputs, override }) => ({ outputs, override }))).toEqual([
      { outputs: ['a', 'b'], override: {} },
      { outputs: ['x'], override: { model: 'own/m' } },
    ]);
  });

  it('[A2] is walked by name, kind and children', () => {
    const { flow } = parts();
    const seen: string[] = [];
    const walk = (node: Node): void => {
      seen.push(`${node.kind} ${node.name}`);
      node.children.forEach(walk);
    };
    walk(flow);
    expect(seen.slice(0, 6)).toEqual([
      'workflow flow',
      'sequence main',
      'goal draft',
      'agent critic',
      'agent critic',
      'convergence polish',
    ]);
  });
});
