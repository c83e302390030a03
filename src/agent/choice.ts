import { isLate } from '../base/at-once.js';
import { SkeinError } from '../base/errors.js';
import { present } from '../base/json.js';
import type { Guide, GuideOf } from '../plan/guide.js';
import type { AgentNode, Choice } from '../plan/plan.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { StepTool } from './tool.js';

/** Name of the tool if its node does not set one. */
const DEFAULT_NAME = 'choose';

const BETWEEN_TURNS =
  "what runs next can't be chosen from inside of a model call that runs tools itself: a replay of the run would not see it";

/** The guide of an agent that only answers. */
const NO_GUIDE: Guide = { isOver: () => false, end: () => ({}) };

/** @throws SkeinError `SKEIN_STEP_FAILED` if the node's function does not return a guide */
export function guideOf({ id, choice }: AgentNode, step: StepContext): Guide {
  if (choice === undefined) return NO_GUIDE;
  if (choice !== 'code') return guideByAnswers(choice);
  const { state } = step.watch();
  const guide = (step.guide as GuideOf)({ state, now: () => step.now(), worked: () => step.worked() }) as
    Partial<Guide> | undefined;
  if (typeof guide?.isOver === 'function' && typeof guide.end === 'function') return atOnce(guide as Guide, id);
  isLate(guide);
  throw new SkeinError('SKEIN_STEP_FAILED', `the choice of '${id}' did not give a guide`, {
    hint: 'return an object with isOver() and end()',
  });
}

/** Returns a guide that refuses promises: one in the place of an answer would end the step, or lead nowhere, unnoticed. */
function atOnce(guide: Guide, node: string): Guide {
  const now = <T>(answer: T, asked: string): T => {
    if (!isLate(answer)) return answer;
    throw new SkeinError('SKEIN_USAGE', `${asked}() of the choice of '${node}' returned a promise`, {
      hint: 'a guide answers at once: do what takes time in a node before or after the agent',
    });
  };
  const { tools } = guide;
  return {
    ...(tools === undefined ? {} : { tools }),
    before: (done) => now(guide.before?.(done), 'before'),
    isOver: () => now(guide.isOver(), 'isOver'),
    end: (end) => now(guide.end(end), 'end'),
  };
}

export function guideTools({ tools = [] }: Guide): readonly StepTool[] {
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    onlyBetweenTurns: BETWEEN_TURNS,
    run: (input) => tool.run(input),
  }));
}

/** Returns the guide of an agent that chooses by a tool. Text and tool results never choose; the first valid call counts. */
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
      // The schema admits only strings.
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
