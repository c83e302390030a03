import type { ModelRequest } from '../../src/agent/model.js';
import type { TreeResult, TreeRunOptions, Workflow, Step } from '../../src/tree.js';
import { sequence, workflow } from '../../src/tree.js';
import { ownModels, promptOf } from '../graph/support-agents.js';
import type { Said } from '../graph/support-agents.js';

/** A model that answers by a function, as what trees run with. */
export interface Talker {
  readonly runtime: { readonly model: string };
  readonly options: TreeRunOptions;
  readonly requests: ModelRequest[];
  /** Prompts of the user, by the address of the step; the last one of each. */
  readonly prompts: () => Readonly<Record<string, string>>;
  readonly systems: () => Readonly<Record<string, string>>;
}

/** Answers by what it is asked. Without a function every answer names the step that asked. */
export function talker(answer: (request: ModelRequest) => Said = ({ caller }) => `said by ${caller.path}`): Talker {
  const { models, requests } = ownModels({ m: answer });
  const byPath = (text: (request: ModelRequest) => string): Readonly<Record<string, string>> =>
    Object.fromEntries(requests.map((request) => [request.caller.path, text(request)]));
  return {
    runtime: { model: 'own/m' },
    options: { models },
    requests,
    prompts: () => byPath(promptOf),
    systems: () =>
      byPath(({ messages }) => {
        const system = messages.find(({ role }) => role === 'system');
        return system?.role === 'system' ? system.text : '';
      }),
  };
}

/** A workflow of these steps, in one sequence. */
export function flowOf(...steps: readonly Step[]): Workflow {
  return workflow('flow').add(sequence('main').steps(...steps));
}

/** Runs a workflow with a model that answers by what it is asked. */
export async function ran(
  flow: Workflow,
  answer?: (request: ModelRequest) => Said,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<TreeResult & Talker> {
  const talk = talker(answer);
  return { ...talk, ...(await flow.execute(talk.runtime, inputs, talk.options)) };
}
