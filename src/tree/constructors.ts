import { Agent, Convergence, Goal, Sequence, Workflow } from './objects.js';

/**
 * A workflow: sequences of steps, with parameters.
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
 * Steps in the order in which they run.
 *
 * @example
 * const main = sequence('main').steps(goal('draft', 'Write a line.'), goal('title', 'Give $draft a title.'));
 */
export function sequence(name: string): Sequence {
  return new Sequence({ kind: 'sequence', name, steps: [] });
}

/**
 * One step of work, done by the model itself or by the agents in `using`.
 *
 * @example
 * const draft = goal('draft', 'Write about $topic.').withOutputs('title', 'text');
 */
export function goal(name: string, description: string): Goal {
  return new Goal({ kind: 'goal', name, description, using: [], outputs: [] });
}

/**
 * Work that is refined, `within` iterations at most, until the model is satisfied. The model is never told the number.
 *
 * @example
 * const polish = convergence('polish', 'Make $draft shorter.', 5);
 */
export function convergence(name: string, description: string, within: number): Convergence {
  return new Convergence({ kind: 'convergence', name, description, within, using: [], outputs: [] });
}

/**
 * A persona: who does the work. What is to be done is the goal it is used in, or its task.
 *
 * @example
 * const critic = agent('critic', 'You are a rigorous critic.');
 * await critic.task('Find weaknesses in: looms are old.').execute({ model: 'mock/echo' }, state());
 */
export function agent(name: string, prompt: string): Agent {
  return new Agent({ kind: 'agent', name, prompt, outputs: [] });
}
