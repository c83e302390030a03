import { checkOptions } from '../../base/options.js';
import type { AnyAgent } from '../../notations/graph/nodes/call-agent.js';
import { refusal } from '../../base/problem.js';
import { AGENT_TOOL_OPTIONS, agentAsTool, type AgentToolOptions } from './agent-as-tool.js';
import { modelAgentOf, withTools } from './agent.js';
import { agentOf, type Agent } from './planned-agent.js';

/** An agent that the supervisor can delegate to. */
export interface TeamMember extends AgentToolOptions {
  /** An agent of Skein, a graph seen as an agent (`flow.asAgent()`), or anything else with `run(task)`. */
  readonly agent: AnyAgent;
}

/** Members of a team. */
export interface TeamOptions<Answer = string> {
  /** An agent made by {@link agent}. It keeps its own tools. */
  readonly supervisor: Agent<Answer>;
  readonly workers: readonly TeamMember[];
}

/**
 * Makes a team: the supervisor receives the task and has each worker as a tool. The supervisor's answer is the team's answer.
 *
 * @throws SkeinError `SKEIN_DEFINITION` without workers, with two of the same name, or with a supervisor that can't have tools;
 *   `SKEIN_USAGE` for options that do not exist
 * @example
 * const team = agentTeam({
 *   supervisor: agent({ name: 'lead', instructions: 'Let the others do the work.' }),
 *   workers: [{ name: 'research', description: 'Runs the research pipeline.', agent: flow.asAgent() }],
 * });
 * console.log((await team.run('Compare looms and mills.')).answer);
 */
export function agentTeam<Answer = string>(options: TeamOptions<Answer>): Agent<Answer> {
  checkOptions<TeamOptions>('agentTeam', options, { supervisor: 'an object', workers: 'a list' });
  const { supervisor, workers } = options;
  const planned = modelAgentOf(supervisor);
  if (planned === undefined) {
    throw refusal(
      'bad-supervisor',
      'the supervisor of a team must be an agent that takes tools',
      "agent({ name: 'lead', ... })",
    );
  }
  if (workers.length === 0) throw refusal('no-workers', 'a team needs workers', "workers: [{ name: 'research', ... }]");
  for (const worker of workers)
    checkOptions<TeamMember>('a worker of a team', worker, { ...AGENT_TOOL_OPTIONS, agent: 'an object' });
  const names = workers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw refusal(
      'duplicate-worker',
      `two workers of the team are named ${JSON.stringify(twice)}`,
      'rename one of the two',
    );
  }
  const tools = workers.map(({ agent, ...how }) => agentAsTool(agent, how));
  return agentOf(withTools(planned, tools), planned.spec.name);
}
