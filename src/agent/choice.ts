import { SkeinError } from '../base/errors.js';
import type { Choice } from '../plan/plan.js';
import type { StepTool } from './tool.js';

/** The tool by which an agent says what runs next, and what it said. */
export interface ChoiceTool {
  readonly tool: StepTool;
  /** The node that was chosen; undefined as long as the tool was not called. */
  chosen(): string | undefined;
}

/** What the tool is called when its node doesn't name it. */
const DEFAULT_NAME = 'choose';

const BETWEEN_TURNS =
  "what runs next can't be chosen from inside of a model call that runs tools itself: a replay of the run would not see it";

/**
 * Makes the tool of a step. Only a call of it chooses: no text of a model and no result of a tool does. The first valid call holds.
 *
 * @example
 * const { tool, chosen } = choiceTool({ answers: { refund: { to: 'refunds' }, other: { to: 'desk' } } });
 */
export function choiceTool({ tool: name = DEFAULT_NAME, description, answers }: Choice): ChoiceTool {
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
  return {
    tool: {
      name,
      description: [what, ...meanings].join('\n'),
      inputSchema,
      onlyBetweenTurns: BETWEEN_TURNS,
      run({ answer }) {
        if (taken !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', `"${taken}" is chosen already`);
        // The schema lets nothing else through.
        taken = typeof answer === 'string' ? answer : '';
        return `chosen: ${taken}`;
      },
    },
    chosen: () => (taken === undefined ? undefined : answers[taken]?.to),
  };
}
