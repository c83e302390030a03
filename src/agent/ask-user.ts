import type { Question } from '../engine/ports/durable.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { JsonObject } from '../base/json.js';
import type { StepTool } from './loop/tool-runner.js';

/** Name of the tool with which an interactive agent asks a person. */
export const ASK_USER = 'ask_user';

/** The tool, and the question that waits for an answer when the step has to pause. */
export interface AskUser {
  readonly tool: StepTool;
  /** The question asked last that has no answer. */
  open(): Question | undefined;
}

/**
 * The tool `ask_user(question, choices?)`. A number that is typed picks the choice with that number.
 */
export function askUser(step: StepContext): AskUser {
  let open: Question | undefined;
  return {
    open: () => open,
    tool: {
      name: ASK_USER,
      description: 'Ask the person who runs this workflow a question and wait for the answer.',
      inputSchema: {
        type: 'object',
        properties: {
          question: { type: 'string', minLength: 1 },
          choices: { type: 'array', items: { type: 'string' }, description: 'Answers to choose from, if any.' },
        },
        required: ['question'],
      },
      async run(input, name) {
        const question = questionOf(input);
        open = question;
        const { text, choices } = question;
        step.note(
          choices === undefined ? { kind: 'question', question: text } : { kind: 'question', question: text, choices },
        );
        const answer = pickChoice(await step.ask(name, question), choices);
        if (open === question) open = undefined;
        step.note({ kind: 'answer', answer });
        return answer;
      },
    },
  };
}

/**
 * The choice that a typed number means, or the text as it is.
 *
 * @example
 * pickChoice('2', ['red', 'blue']); // 'blue'
 */
export function pickChoice(answer: string, choices: readonly string[] | undefined): string {
  const typed = answer.trim();
  if (choices === undefined || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return answer;
  return choices[Number(typed) - 1] ?? answer;
}

function questionOf(input: JsonObject): Question {
  const { question, choices } = input;
  const text = typeof question === 'string' ? question : '';
  const list = Array.isArray(choices) ? choices.filter((choice) => typeof choice === 'string') : [];
  return list.length === 0 ? { text } : { text, choices: list };
}
