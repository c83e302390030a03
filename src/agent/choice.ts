import { SkeinError } from '../base/errors.js';
import { present } from '../base/json.js';
import type { Guide, GuideOf } from '../plan/guide.js';
import type { AgentNode, Choice } from '../plan/plan.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { StepTool } from './tool.js';

/** What the tool is called when its node doesn't name it. */
const DEFAULT_NAME = 'choose';

const BETWEEN_TURNS =
  "what runs next can't be chosen from inside of a model call that runs tools itself: a replay of the run would not see it";

/** An agent that only answers. */
const NO_GUIDE: Guide = { isOver: () => false, end: () => ({}) };

/**
 * What guides a step of an agent.
 *
 * @throws SkeinError `SKEIN_STEP_FAILED` when the function of the node gives none
 */
export function guideOf({ id, choice }: AgentNode, step: StepContext): Guide {
  if (choice === undefined) return NO_GUIDE;
  if (choice !== 'code') return guideByAnswers(choice);
  const { state } = step.watch();
  const guide = (step.guide as GuideOf)({ state, now: () => step.now(), worked: () => step.worked() }) as
    Partial<Guide> | undefined;
  if (typeof guide?.isOver === 'function' && typeof guide.end === 'function') return guide as Guide;
  throw new SkeinError('SKEIN_STEP_FAILED', `the choice of '${id}' did not give a guide`, {
    hint: 'return an object with isOver() and end()',
  });
}

/** The tools of a guide, for the runner of a step's tools. */
export function guideTools({ tools = [] }: Guide): readonly StepTool[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    onlyBetweenTurns: BETWEEN_TURNS,
    run: (input) => tool.run(input),
  }));
}

/** The guide of an agent that chooses by a tool. Only a call of it chooses: no text of a model and no result of a tool does. The first valid call holds. */
function guideByAnswers({ tool: name = DEFAULT_NAME, description, answers }: Choice): Guide {
  let taken: string | undefined;
  const names = Object.keys(answers);
  const inputSchema = {
    type: 'object',
    properties: { answer: { type: 'string', enum: names, description: 'What happens next.' } },
    required: ['answer'],
    additionalProperties: false,
  };
  const meanings = Object.entries(answers).flatMap(([answer, { about }]) =>
    about === undefined ? [] : [`${answer}: ${about}`],
  );
  const what = description ?? 'Choose what happens next. Call it once, when your work is done: nothing follows it.';
  const tool = {
    name,
    description: [what, ...meanings].join('\n'),
    inputSchema,
    run({ answer }: Readonly<Record<string, unknown>>): string {
      if (taken !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', `"${taken}" is chosen already`);
      // The schema lets nothing else through.
      taken = typeof answer === 'string' ? answer : '';
      return `chosen: ${taken}`;
    },
  };
  return {
    tools: [tool],
    isOver: () => taken !== undefined,
    end: () => (taken === undefined ? {} : present({ goto: answers[taken]?.to })),
  };
}
