import type { Model, ModelPart, ModelRequest } from '../../../src/agent/model.js';
import type { Json } from '../../../src/base/json.js';
import { completeVariables } from '../../../src/notations/machine/variables.js';
import type { Pack, Prompt } from '../../../src/notations/machine/pack.js';
import { promptAgent } from '../../../src/notations/machine/prompt-agent.js';
import type { PromptExtras } from '../../../src/notations/machine/prompt-agent.js';
import { packTools } from '../../../src/notations/machine/pack-tools.js';
import type { Plan } from '../../../src/plan/plan.js';
import { runWorkflow } from '../../../src/runtime.js';

/** A pack of the prompt `chat`. */
export function packOf(prompt: Partial<Prompt>, more: Partial<Pack> = {}): Pack {
  return { id: 'p', ...more, prompts: { chat: { system_template: 'Be kind.', ...prompt }, ...more.prompts } };
}

/** What is there while a prompt speaks. */
interface Speaking extends PromptExtras {
  readonly prompt?: string;
  readonly variables?: Readonly<Record<string, Json>>;
  readonly artifacts?: Readonly<Record<string, Json>>;
  readonly context?: string;
  /** Name of the model, `own/...`. */
  readonly model?: string;
  readonly answers?: readonly ModelPart[][];
}

/** Lets a prompt of a pack speak, and gives what its model was sent. */
export async function spoken(pack: Pack, speaking: Speaking = {}): Promise<readonly ModelRequest[]> {
  const { prompt = 'chat', variables = {}, artifacts = {}, context = '', model = 'own/m', answers = [] } = speaking;
  const requests: ModelRequest[] = [];
  const own = (name: string): Model => ({
    id: `own/${name}`,
    async *stream(request): AsyncGenerator<ModelPart> {
      await Promise.resolve();
      requests.push({ ...request, messages: [...request.messages] });
      yield* answers[requests.length - 1] ?? [{ type: 'text', text: 'Done.' }];
      const reason = requests.length > answers.length ? 'stop' : 'tool-calls';
      yield { type: 'finish', reason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  const agent = promptAgent(pack, prompt, speaking);
  const channels = ['variables', 'artifacts', 'workflow_context'];
  const plan: Plan = {
    format: 1,
    name: 'spoken',
    inputs: channels.map((name) => ({ name, channel: name, required: false })),
    channels: [...channels, 'said'].map((name) => ({ name })),
    nodes: [{ id: 'speaks', kind: 'agent', agent, prompt: ['Hello'], output: 'said' }],
    edges: [],
    routes: [],
  };
  const inputs = { variables: completeVariables(pack, { prompt }, variables), artifacts, workflow_context: context };
  const bindings = packTools(pack, pack.prompts[prompt] ?? { system_template: '' }, speaking).bindings('speaks');
  const { result } = await runWorkflow(
    { plan, bindings, settings: { output: { format: 'markdown' } }, files: [], problems: [] },
    { inputs, audit: false, models: { env: {}, noProbe: true, override: model, providers: { own } } },
  );
  const { error } = await result;
  if (error !== undefined) throw new Error(error.message);
  return requests;
}

/** The system prompt of the first call. */
export async function systemOf(pack: Pack, speaking: Speaking = {}): Promise<string> {
  const [request] = await spoken(pack, speaking);
  const [first] = request?.messages ?? [];
  return first?.role === 'system' ? first.text : '';
}
