import { SkeinError } from '../base/errors.js';
import { kindText } from '../lang/value-text.js';
import { Agent, Convergence, Goal, Sequence, Workflow } from './objects.js';

/**
 * Creates a workflow: sequences of steps, with parameters.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name, description or prompt that is not a text
 * @example
 * const review = workflow('review')
 *   .input('topic')
 *   .add(sequence('main').steps(goal('draft', 'Write about $topic.')));
 */
export function workflow(name: string): Workflow {
  return new Workflow({ kind: 'workflow', ...texts('workflow', { name }), inputs: [], sequences: [] });
}

/**
 * Creates a sequence of steps, which run in order.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name, description or prompt that is not a text
 * @example
 * const main = sequence('main').steps(goal('draft', 'Write a line.'), goal('title', 'Give $draft a title.'));
 */
export function sequence(name: string): Sequence {
  return new Sequence({ kind: 'sequence', ...texts('sequence', { name }), steps: [] });
}

/**
 * Creates one step of work, done by the model itself or by the agents in `using`.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name, description or prompt that is not a text
 * @example
 * const draft = goal('draft', 'Write about $topic.').withOutputs('title', 'text');
 */
export function goal(name: string, description: string): Goal {
  return new Goal({ kind: 'goal', ...texts('goal', { name, description }), using: [], outputs: [] });
}

/**
 * Creates work that is refined until the model is satisfied, in at most `within` iterations. The model never sees that number.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name, description or prompt that is not a text
 * @example
 * const polish = convergence('polish', 'Make $draft shorter.', 5);
 */
export function convergence(name: string, description: string, within: number): Convergence {
  return new Convergence({
    kind: 'convergence',
    ...texts('convergence', { name, description }),
    within,
    using: [],
    outputs: [],
  });
}

/**
 * Creates a persona, which does the work. The work is the goal the agent is used in, or the agent's own task.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name, description or prompt that is not a text
 * @example
 * const critic = agent('critic', 'You are a rigorous critic.');
 * await critic.task('Find weaknesses in: looms are old.').execute({ model: 'mock/echo' }, state());
 */
export function agent(name: string, prompt: string): Agent {
  return new Agent({ kind: 'agent', ...texts('agent', { name, prompt }), outputs: [] });
}

/** @throws SkeinError `SKEIN_USAGE` for what is not a text */
function texts<Given extends Readonly<Record<string, string>>>(what: string, given: Given): Given {
  const wrong = Object.entries<unknown>(given).find(([, value]) => typeof value !== 'string');
  if (wrong === undefined) return given;
  const [key, value] = wrong;
  const hint = `${what}(${Object.keys(given)
    .map((name) => `'${name}'`)
    .join(', ')})`;
  throw new SkeinError(
    'SKEIN_USAGE',
    `the ${key} of ${what === 'agent' ? 'an' : 'a'} ${what} is a text, not ${kindText(value)}`,
    { hint },
  );
}
