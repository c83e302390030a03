import { Agent, Convergence, Goal, Sequence, Workflow } from './objects.js';

/**
 * Creates a workflow: sequences of steps, with parameters.
 *
 * @example
 * const review = workflow('review')
 *   .input('topic')
 *   .add(sequence('main').steps(goal('draft', 'Write about $topic.')));
 */
export function workflow(name: string): Workflow {
  return new Workflow({ kind: 'workflow', name, inputs: [], sequences: [] });
}

/**
 * Creates a sequence of steps, which run in order.
 *
 * @example
 * const main = sequence('main').steps(goal('draft', 'Write a line.'), goal('title', 'Give $draft a title.'));
 */
export function sequence(name: string): Sequence {
  return new Sequence({ kind: 'sequence', name, steps: [] });
}

/**
 * Creates one step of work, done by the model itself or by the agents in `using`.
 *
 * @example
 * const draft = goal('draft', 'Write about $topic.').withOutputs('title', 'text');
 */
export function goal(name: string, description: string): Goal {
  return new Goal({ kind: 'goal', name, description, using: [], outputs: [] });
}

/**
 * Creates work that is refined until the model is satisfied, in at most `within` iterations. The model never sees that number.
 *
 * @example
 * const polish = convergence('polish', 'Make $draft shorter.', 5);
 */
export function convergence(name: string, description: string, within: number): Convergence {
  return new Convergence({ kind: 'convergence', name, description, within, using: [], outputs: [] });
}

/**
 * Creates a persona, which does the work. The work is the goal the agent is used in, or the agent's own task.
 *
 * @example
 * const critic = agent('critic', 'You are a rigorous critic.');
 * await critic.task('Find weaknesses in: looms are old.').execute({ model: 'mock/echo' }, state());
 */
export function agent(name: string, prompt: string): Agent {
  return new Agent({ kind: 'agent', name, prompt, outputs: [] });
}
