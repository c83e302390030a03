import type { StepTool } from './loop/step-tool.js';

/** Name of the tool with which an agent writes down what it thinks. */
export const THINK = 'think';

/** The tool `think(thought)`: does nothing but give the thought back, so that the model has it before its eyes. */
export const thinkTool: StepTool = {
  name: THINK,
  description:
    'Write down a thought. It reads nothing and changes nothing; use it to reason about what you know before you act.',
  inputSchema: {
    type: 'object',
    properties: { thought: { type: 'string', description: 'What you think.' } },
    required: ['thought'],
    additionalProperties: false,
  },
  run: (input) => (typeof input['thought'] === 'string' ? input['thought'] : ''),
};
