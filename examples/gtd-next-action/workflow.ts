import { supervisor } from 'skein';
import { agent, goal, sequence, workflow } from 'skein/tree';
import type { Runtime } from 'skein/tree';

const jira = agent('jira', 'You pull outstanding tasks from the JIRA queue.');
const todo = agent('todo', 'You pull outstanding tasks from the TODO list.');
// History is long: a larger model for this agent alone.
const past = agent('past-actions', 'You pull recurring and postponed actions of the past.').customize({
  model: 'anthropic/claude-opus-4-7',
});

/** The three look side by side; what they find is put together. */
const prepare = goal('prepare', 'Prepare task data from all sources').using(jira, todo, past).budget('40-calls');

/** The choice is a value of its own, and is judged before anybody acts on it. */
const analyze = goal(
  'analyze',
  'Analyze tasks across sources, choose the most important next actions that fit $hours_available hours',
)
  .withOutputs('chosen_tasks')
  .supervise();

const writeDaily = goal(
  'write_daily',
  'Write $chosen_tasks as the daily tasks file of today, in a $style style, including context for each task',
);

/** What it runs with: the model is that of the environment, and judges as well. */
export const runtime: Runtime = { supervisor: supervisor() };

export default workflow('gtd-next-action')
  .budget('80-calls, 400k-tokens')
  .input('hours_available', { name: 'style', default: 'concise' })
  .add(sequence('main').steps(prepare, analyze, writeDaily));
