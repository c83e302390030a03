import { SkeinError } from '../../base/errors.js';
import type { Workflow } from '../../plan/workflow.js';

/** The input that `skein exec` accepts as an argument, and its default. */
export const PROMPT = 'prompt';
export const DEFAULT_PROMPT = 'Please proceed.';

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the inputs with the intended prompt: text from stdin ends with a line break that the user did not type.
 *
 * @throws SkeinError `SKEIN_INPUT` for a prompt without text
 * @example
 * readPrompt({ prompt: 'Go on.\n' }); // { prompt: 'Go on.' }
 */
export function readPrompt(inputs: Values): Values {
  const prompt = Object.hasOwn(inputs, PROMPT) ? inputs[PROMPT] : undefined;
  if (typeof prompt !== 'string') return inputs;
  if (prompt.trim() !== '') return { ...inputs, [PROMPT]: prompt.replace(/\r?\n$/, '') };
  throw new SkeinError('SKEIN_INPUT', 'the prompt is empty', {
    hint: `leave it out to begin with ${JSON.stringify(DEFAULT_PROMPT)}`,
  });
}

/**
 * Whether the given prompt is not used by any step.
 *
 * @throws SkeinError `SKEIN_INPUT` if the workflow has no such input
 */
export async function isPromptUnused({ plan }: Workflow, inputs: Values): Promise<boolean> {
  // It is unknown which open inputs functions read.
  if (plan === undefined || plan.openInputs === true || !Object.hasOwn(inputs, PROMPT)) return false;
  const { readsInput, traitsOf } = await import('../../plan.js');
  const unused = !readsInput(plan, PROMPT);
  const declared = plan.inputs.filter(({ at }) => at !== undefined);
  if (!unused || traitsOf(plan.notation).taskInput === PROMPT || declared.some(({ name }) => name === PROMPT))
    return unused;
  const names = declared.map(({ name }) => name);
  throw new SkeinError('SKEIN_INPUT', `${plan.name} takes no prompt`, {
    hint: names.length === 0 ? 'it has no inputs' : `its inputs are given with --input NAME=VALUE: ${names.join(', ')}`,
  });
}
