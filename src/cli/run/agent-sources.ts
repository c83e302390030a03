import type { Workflow } from '../../plan/workflow.js';
import { printable } from '../view/printable.js';

/**
 * Which file each agent came from, one line for each: a checkout may bring one that is called like the user's own.
 *
 * @example
 * agentSources({ agentFiles: new Map([['critic', '.github/agents/critic.agent.md']]) }); // ['agent critic: .github/agents/critic.agent.md']
 */
export function agentSources({ agentFiles }: Pick<Workflow, 'agentFiles'>): readonly string[] {
  return [...(agentFiles ?? [])].map(([name, file]) => `agent ${printable(name)}: ${printable(file)}`);
}

/** The same as data. */
export function agentFilesOf({ agentFiles }: Pick<Workflow, 'agentFiles'>): {
  readonly agentFiles?: Readonly<Record<string, string>>;
} {
  return agentFiles === undefined || agentFiles.size === 0 ? {} : { agentFiles: Object.fromEntries(agentFiles) };
}
