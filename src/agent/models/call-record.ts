import { canonicalHash, canonicalJson } from '../../base/hash.js';
import { madeOnce } from '../../base/collections.js';
import type { Json } from '../../base/json.js';
import { MARK_PATTERN } from '../system-prompt.js';
import type { Message, ModelRequest } from '../model.js';

/** A request in the form that recordings compare: without the ids, times and marks that differ from run to run. */
export interface NormalCall {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Json[];
  readonly output: Json;
  readonly settings: Json;
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/g;

export function normalCall(model: string, request: ModelRequest): NormalCall {
  return {
    model,
    messages: normalMessages(request.messages),
    tools: request.tools.map((tool) => ({ name: tool.name, inputSchema: tool.inputSchema })),
    output: request.output?.schema ?? null,
    settings: { ...request.settings },
  };
}

/** Returns a conversation without what differs from run to run. */
export function normalMessages(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const id = (given: string): string => madeOnce(ids, given, () => `call_${ids.size + 1}`);
  return messages.map((message) => normalMessage(message, id));
}

/** The key of a call: the same for equal calls of any run. */
export function callKey(call: NormalCall): string {
  return canonicalHash(call);
}

/** Returns text without what differs from run to run. */
export function normalText(text: string): string {
  return text.replaceAll(TIME, '<time>').replaceAll(MARK_PATTERN, '$1-<mark>');
}

function normalMessage(message: Message, id: (given: string) => string): Message {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, text: normalText(message.text) };
    case 'assistant':
      return {
        role: 'assistant',
        text: normalText(message.text),
        toolCalls: message.toolCalls.map((call) => ({
          id: id(call.id),
          name: call.name,
          input: normalText(call.input),
        })),
      };
    case 'tool':
      return {
        role: 'tool',
        results: message.results.map((result) => ({ ...result, id: id(result.id), output: normalText(result.output) })),
      };
  }
}

/** Longest piece of a line to show. */
const SHOWN = 120;

/** How similar two calls are, from 0; used to find the nearest recorded one. */
export function likeness(a: NormalCall, b: NormalCall): number {
  let score = a.model === b.model ? 2 : 0;
  if (names(a) === names(b)) score += 1;
  if (canonicalJson(a.output) === canonicalJson(b.output)) score += 1;
  const length = Math.min(a.messages.length, b.messages.length);
  for (let i = 0; i < length; i++) score += 4 * commonShare(messageText(a.messages[i]), messageText(b.messages[i]));
  return score - Math.abs(a.messages.length - b.messages.length);
}

/** The differences between a recorded call and a requested one, as a few short lines. */
export function differences(recorded: NormalCall, asked: NormalCall): readonly string[] {
  const lines: string[] = [];
  if (recorded.model !== asked.model) lines.push(`model: recorded ${recorded.model}, asked ${asked.model}`);
  if (recorded.messages.length !== asked.messages.length) {
    lines.push(`messages: recorded ${recorded.messages.length}, asked ${asked.messages.length}`);
  }
  const length = Math.min(recorded.messages.length, asked.messages.length);
  for (let i = 0; i < length; i++) {
    const before = messageText(recorded.messages[i]);
    const now = messageText(asked.messages[i]);
    if (before === now) continue;
    lines.push(...firstDifference(`message ${i + 1} (${asked.messages[i]?.role ?? ''})`, before, now));
    break;
  }
  if (names(recorded) !== names(asked)) lines.push(`tools: recorded ${names(recorded)}, asked ${names(asked)}`);
  else if (canonicalJson(recorded.tools) !== canonicalJson(asked.tools)) lines.push('tools: an input schema differs');
  if (canonicalJson(recorded.output) !== canonicalJson(asked.output)) lines.push('output schema: differs');
  if (canonicalJson(recorded.settings) !== canonicalJson(asked.settings)) {
    lines.push(`settings: recorded ${canonicalJson(recorded.settings)}, asked ${canonicalJson(asked.settings)}`);
  }
  return lines;
}

function firstDifference(where: string, before: string, now: string): readonly string[] {
  const a = before.split('\n');
  const b = now.split('\n');
  let line = 0;
  while (line < a.length && line < b.length && a[line] === b[line]) line += 1;
  return [`${where}, line ${line + 1}:`, `  recorded: ${shown(a[line])}`, `  asked:    ${shown(b[line])}`];
}

function shown(line: string | undefined): string {
  if (line === undefined) return '(nothing)';
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}...` : line;
}

function messageText(message: Message | undefined): string {
  if (message === undefined) return '';
  switch (message.role) {
    case 'system':
    case 'user':
      return message.text;
    case 'assistant':
      return [message.text, ...message.toolCalls.map((call) => `${call.name} ${call.input}`)].join('\n');
    case 'tool':
      return message.results.map((result) => `${result.name} ${result.output}`).join('\n');
  }
}

function commonShare(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return 1;
  const length = Math.min(a.length, b.length);
  let start = 0;
  while (start < length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return (start + end) / longest;
}

function names(call: NormalCall): string {
  const list = call.tools.map((tool) => (tool as { readonly name?: string }).name ?? '');
  return list.length === 0 ? '(none)' : list.join(', ');
}
