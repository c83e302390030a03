import { ownValue, type JsonObject } from '../../base/json.js';
import type { StateMachine } from './machine.js';
import type { Spec, State } from './spec.js';

/** Name of the tool with which a model fires an event. */
export const TRANSITION_TOOL = 'workflow__transition';

/** Name of the tool with which a model sets an artifact. */
export const ARTIFACT_TOOL = 'workflow__set_artifact';

/**
 * A tool as declared to a model.
 *
 * @example
 * const [tool] = toolsOf(machine);
 */
export interface MachineTool {
  readonly name: string;
  readonly namespace: 'workflow';
  readonly description: string;
  /** A JSON Schema. */
  readonly inputSchema: JsonObject;
}

/**
 * Returns the tool with which a model fires one of `events`.
 *
 * @example
 * transitionTool(machine.availableEvents()).name; // 'workflow__transition'
 */
export function transitionTool(events: readonly string[]): MachineTool {
  return toolOf(
    TRANSITION_TOOL,
    'Transition the workflow to its next state: fire one of the events of the current state, at most one in a round of calls.',
    {
      event: { type: 'string', enum: events.toSorted(), description: 'The event to fire.' },
      context: { type: 'string', description: 'What the next state has to know, in short.' },
    },
  );
}

/**
 * Returns the tool with which a model sets an artifact of the spec; undefined if no state declares one.
 *
 * @example
 * artifactTool(machine.spec)?.name; // 'workflow__set_artifact'
 */
export function artifactTool(spec: Spec): MachineTool | undefined {
  const names = new Set(Object.values(spec.states).flatMap(({ artifacts }) => Object.keys(artifacts ?? {})));
  if (names.size === 0) return undefined;
  return toolOf(ARTIFACT_TOOL, 'Set an artifact of the workflow: a text under a name that later states can read.', {
    name: { type: 'string', enum: [...names].toSorted(), description: 'Name of the artifact.' },
    value: { type: 'string', description: 'Its value, or what is added to it.' },
  });
}

/**
 * Returns the tools of a model in the current state: the transition tool if the model may fire events, the artifact tool if any state
 * declares artifacts. Each call returns new objects, which no other machine shares.
 *
 * @example
 * toolsOf(machine).map(({ name }) => name); // ['workflow__transition']
 */
export function toolsOf(machine: StateMachine): MachineTool[] {
  const state = ownValue(machine.spec.states, machine.currentState) as State | undefined;
  const isChosenByModel =
    !machine.isTerminal && state?.orchestration !== 'external' && state?.orchestration !== 'composition';
  const artifacts = artifactTool(machine.spec);
  return [
    ...(isChosenByModel ? [transitionTool(machine.availableEvents())] : []),
    ...(artifacts === undefined ? [] : [artifacts]),
  ];
}

function toolOf(name: string, description: string, properties: JsonObject): MachineTool {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
  return { name, namespace: 'workflow', description, inputSchema };
}
