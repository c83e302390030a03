/** Chunks of a streamed answer in the three wire formats that providers speak. */
export interface WireAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish?: string;
  /** `raw` is sent as it is, and nothing else; `none`: nothing is counted. */
  readonly usage?: { readonly input: number; readonly output: number } | { readonly raw: object } | 'none';
}

export type WireFormat = 'chat' | 'responses' | 'messages';

export function formatOf(url: string): WireFormat | undefined {
  if (url.endsWith('/chat/completions')) return 'chat';
  if (url.endsWith('/responses')) return 'responses';
  return url.endsWith('/messages') ? 'messages' : undefined;
}

/** Server-sent events of an answer; the last ones say that it is complete. */
export function eventsOf(format: WireFormat, answer: WireAnswer, model: string): readonly string[] {
  switch (format) {
    case 'chat':
      return chatEvents(answer, model);
    case 'responses':
      return responsesEvents(answer, model);
    case 'messages':
      return messagesEvents(answer, model);
  }
}

function pieces(text: string): readonly string[] {
  return text.match(/.{1,7}/gs) ?? [];
}

/** By the names that the format has for what goes in and out. */
function usageOf(
  { usage = { input: 11, output: 7 } }: WireAnswer,
  [into, out]: readonly [string, string],
): object | undefined {
  if (usage === 'none') return undefined;
  if ('raw' in usage) return usage.raw;
  const { input, output } = usage;
  return { [into]: input, [out]: output, ...(into === 'input_tokens' ? {} : { total_tokens: input + output }) };
}

function chatEvents(answer: WireAnswer, model: string): readonly string[] {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
  const chunk = (delta: object, finish: string | null = null): string =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const usage = usageOf(answer, ['prompt_tokens', 'completion_tokens']);
  const calls = answer.calls ?? [];
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(answer.text ?? '').map((piece) => chunk({ content: piece })),
    ...calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
      ...pieces(call.input).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, answer.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(usage === undefined ? [] : [data({ ...base, choices: [], usage })]),
    'data: [DONE]\n\n',
  ];
}

function responsesEvents(answer: WireAnswer, model: string): readonly string[] {
  const response = { id: 'resp_1', object: 'response', created_at: 1, model };
  const usage = usageOf(answer, ['input_tokens', 'output_tokens']);
  const item = { id: 'msg_1', type: 'message', role: 'assistant' };
  const text = answer.text ?? '';
  const message =
    text === ''
      ? []
      : [
          event('response.output_item.added', {
            output_index: 0,
            item: { ...item, status: 'in_progress', content: [] },
          }),
          ...pieces(text).map((delta) =>
            event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
          ),
          event('response.output_item.done', {
            output_index: 0,
            item: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
          }),
        ];
  const calls = (answer.calls ?? []).flatMap((call, index) => {
    const at = index + 1;
    const shared = { id: `fc_${at}`, type: 'function_call', call_id: call.id, name: call.name };
    return [
      event('response.output_item.added', {
        output_index: at,
        item: { ...shared, status: 'in_progress', arguments: '' },
      }),
      event('response.function_call_arguments.delta', { item_id: shared.id, output_index: at, delta: call.input }),
      event('response.output_item.done', {
        output_index: at,
        item: { ...shared, status: 'completed', arguments: call.input },
      }),
    ];
  });
  return [
    event('response.created', { response: { ...response, status: 'in_progress' } }),
    ...message,
    ...calls,
    event('response.completed', { response: { ...response, status: 'completed', usage } }),
  ];
}

function messagesEvents(answer: WireAnswer, model: string): readonly string[] {
  const usage = usageOf(answer, ['input_tokens', 'output_tokens']);
  const calls = answer.calls ?? [];
  const text = answer.text ?? '';
  const first = text === '' ? 0 : 1;
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  return [
    event('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
    ...(text === ''
      ? []
      : [
          event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
          ...pieces(text).map((piece) =>
            event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } }),
          ),
          event('content_block_stop', { index: 0 }),
        ]),
    ...calls.flatMap((call, i) => {
      const index = first + i;
      return [
        event('content_block_start', {
          index,
          content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
        }),
        event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: call.input } }),
        event('content_block_stop', { index }),
      ];
    }),
    event('message_delta', {
      delta: { stop_reason: answer.finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn'), stop_sequence: null },
      usage: { output_tokens: 1, ...usage },
    }),
    event('message_stop', {}),
  ];
}

function data(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function event(type: string, body: object): string {
  return `event: ${type}\n${data({ type, ...body })}`;
}
