import type { Message, ModelRequest } from '../../../src/agent/model.js';
import { openPack } from 'skein/machine';
import type { OpenPackOptions, PackConversation } from 'skein/machine';
import { ownModels } from '../../graph/support-agents.js';
import type { Said } from '../../graph/support-agents.js';

/** States of a pack, each with a prompt of its own name unless it names one. */
type States = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A pack of these states; the prompt of a state says `You are NAME.`, or what `texts` has for it. */
export function packOf(
  states: States,
  more: Readonly<Record<string, unknown>> = {},
  texts: Readonly<Record<string, string>> = {},
) {
  const prompts = Object.keys(states).map((state, at): [string, object] => [
    `p${at}`,
    { id: `p${at}`, name: `Prompt ${at}`, version: '1.0.0', system_template: texts[state] ?? `You are ${state}.` },
  ]);
  const placed = Object.entries(states).map(([state, data], at): [string, object] => [
    state,
    { ...(data['orchestration'] === 'composition' ? {} : { prompt_task: `p${at}` }), ...data },
  ]);
  const { prompts: changed = {}, workflow = {}, ...rest } = more as Record<string, Record<string, object>>;
  return {
    id: 'pack',
    name: 'Pack',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: Object.fromEntries(prompts.map(([name, prompt]) => [name, { ...prompt, ...changed[name] }])),
    workflow: { version: 2, entry: Object.keys(states)[0] ?? '', states: Object.fromEntries(placed), ...workflow },
    ...rest,
  };
}

/** A call of the transition tool. */
export function go(event: string, context = '', more: object = {}): readonly [string, object] {
  return ['workflow__transition', { event, context, ...more }];
}

/** A call of the artifact tool. */
export function set(name: string, value: string): readonly [string, object] {
  return ['workflow__set_artifact', { name, value }];
}

/** The state whose prompt a request has. */
export function speakerOf({ messages }: Pick<ModelRequest, 'messages'>): string {
  const [first] = messages;
  return (first?.role === 'system' ? /You are (.*?)\./.exec(first.text)?.[1] : undefined) ?? '';
}

/** A request as `role: text` lines, calls and results by their tools. */
export function linesOf({ messages }: { readonly messages: readonly Message[] }): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool: ${message.results.map(({ output }) => output).join(' | ')}`;
    const calls = message.role === 'assistant' ? message.toolCalls.map(({ name }) => ` ->${name}`).join('') : '';
    return `${message.role}: ${message.text}${calls}`;
  });
}

/** What the states say, in order, each time they are asked. */
export type Script = Readonly<Record<string, readonly (Said | ((request: ModelRequest) => Said))[]>>;

/** A conversation whose states say what a script has for them; the last line of a state is said for ever. */
export async function talking(
  pack: string | object,
  script: Script,
  options: OpenPackOptions = {},
): Promise<{
  conversation: PackConversation;
  requests: ModelRequest[];
  speakers: () => string[];
  options: OpenPackOptions;
}> {
  const asked: Record<string, number> = {};
  const requests: ModelRequest[] = [];
  const { models } = ownModels({
    m: (request) => {
      requests.push({ ...request, messages: [...request.messages] });
      const speaker = speakerOf(request);
      const lines = script[speaker];
      if (lines === undefined) throw new Error(`nobody planned that ${speaker} speaks`);
      const at = (asked[speaker] = (asked[speaker] ?? 0) + 1) - 1;
      const said = lines[Math.min(at, lines.length - 1)] ?? '';
      return typeof said === 'function' ? said(request) : said;
    },
  });
  const all: OpenPackOptions = { models: { ...models, override: 'own/m' }, ...options };
  return { conversation: await openPack(pack, all), requests, speakers: () => requests.map(speakerOf), options: all };
}
