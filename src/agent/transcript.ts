import { SkeinError } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import { isPlainObject, recordText } from '../base/json.js';
import type { Message } from './model.js';

/** The messages from before a step began, and their digest. */
export interface Earlier {
  readonly messages: readonly Message[];
  digest(): string;
}

/** The user message for a provider that requires one when the person said nothing new. Not kept in the conversation. */
const GO_ON = 'Continue.';

/**
 * The messages of one agent step: the system prompt, earlier messages, and those that the step adds. It only grows, so each message is
 * hashed once; the earlier messages already have a digest, so a step costs what it adds, however long the conversation is.
 *
 * @example
 * const transcript = new Transcript();
 * transcript.begin('You review code.', undefined, 'Look at this.');
 * transcript.add({ role: 'assistant', text: 'Done.', toolCalls: [] });
 * transcript.own; // what the user and the assistant said
 */
export class Transcript {
  private readonly said: Message[] = [];
  /** Index of the first message that the step adds. */
  private first = 0;
  private readonly aside = new Set<Message>();
  /** Replacements under which messages are kept. */
  private readonly shown = new Map<Message, Message>();
  private sum = '';
  private hashed = 0;
  private earlier: Earlier | undefined;
  /** The system prompt in the form that is digested. */
  private system: Message | undefined;

  /** All messages, in the order in which they are sent. */
  get messages(): readonly Message[] {
    return this.said;
  }

  get own(): readonly Message[] {
    return this.said.slice(this.first);
  }

  /** The step's messages that belong to the conversation. */
  get kept(): readonly Message[] {
    return this.own.filter((message) => !this.aside.has(message)).map((message) => this.shown.get(message) ?? message);
  }

  /** Excludes the last messages from the conversation: a refused answer, and what was wrong with it. */
  setAside(count: number): void {
    for (const message of this.said.slice(-count)) this.aside.add(message);
  }

  /**
   * Begins the transcript; an empty system prompt or prompt adds no message. `asked` is the part of the prompt that belongs to the
   * conversation; `digested` replaces the system prompt in the digest.
   *
   * @throws SkeinError `SKEIN_INPUT` if there is no message at all
   */
  begin(
    system: string,
    earlier: Earlier | undefined,
    prompt: string,
    { asked = prompt, digested = system }: { readonly asked?: string; readonly digested?: string } = {},
  ): void {
    const before = earlier?.messages ?? [];
    const isSilent = earlier !== undefined && prompt === '';
    if (isSilent && before.length === 0) throw nothingSaid();
    this.earlier = earlier;
    if (system.trim() !== '') {
      this.said.push({ role: 'system', text: system });
      this.system = { role: 'system', text: digested };
    }
    // One by one: a long conversation has more messages than a call accepts arguments.
    for (const message of before) this.said.push(message);
    if (isSilent && before.at(-1)?.role === 'assistant') this.said.push({ role: 'user', text: GO_ON });
    this.first = this.said.length;
    if (isSilent) return;
    const message: Message = { role: 'user', text: prompt };
    this.add(message);
    if (asked === '' && prompt !== '') this.aside.add(message);
    else if (asked !== prompt) this.shown.set(message, { role: 'user', text: asked });
  }

  add(message: Message): void {
    this.said.push(message);
  }

  digest(): string {
    if (this.hashed === 0 && this.earlier !== undefined) {
      const system = this.system?.role === 'system' ? this.system.text : '';
      this.sum = digestText(recordText([system, this.earlier.digest()]));
      this.hashed = this.first;
    }
    for (; this.hashed < this.said.length; this.hashed++)
      this.sum = digestText(
        `${this.sum} ${recordText(this.hashed === 0 ? (this.system ?? this.said[0]) : this.said[this.hashed])}`,
      );
    return this.sum;
  }
}

/**
 * Returns a conversation channel's messages; with `recent` the last ones, from a user message on, so that each result has its call.
 *
 * @throws SkeinError `SKEIN_INPUT` for a value that is not a conversation
 */
export function conversationOf(value: unknown, channel: string, recent?: number): readonly Message[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw notMessages(channel, 'it is not a list');
  const last = recent === undefined ? 0 : Math.max(0, value.length - recent);
  return backToUser(value, last) ?? messagesFrom(value, last, channel);
}

/**
 * Returns the last messages of a conversation channel like {@link conversationOf}, but reads only as many as needed. `read` returns at
 * least that many of the last entries; if fewer, all of them.
 */
export function recentOf(read: (count: number) => unknown, channel: string, recent: number): readonly Message[] {
  for (let count = 2 * recent; ; count *= 4) {
    const value = read(count);
    if (!Array.isArray(value) || value.length < count) return conversationOf(value, channel, recent);
    const messages = backToUser(value, value.length - recent);
    if (messages !== undefined) return messages;
  }
}

/** Returns the last entries, back to a user message at or before `last`; undefined if there is none, or if an entry is not a message. */
function backToUser(entries: readonly unknown[], last: number): readonly Message[] | undefined {
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    if (!isMessage(entry)) return undefined;
    if (at <= last && entry.role === 'user') return entries.slice(at) as readonly Message[];
  }
  return undefined;
}

/** Returns the entries from the nearest user message on: before `last`, otherwise after it. */
function messagesFrom(entries: readonly unknown[], last: number, channel: string): readonly Message[] {
  let from = last;
  while (from > 0 && roleOf(entries[from]) !== 'user') from -= 1;
  while (from < entries.length && roleOf(entries[from]) !== 'user') from += 1;
  return entries.slice(from).map((entry, at) => {
    if (isMessage(entry)) return entry;
    throw notMessages(channel, `entry ${from + at + 1} is not a message of a user, an assistant or of tools`);
  });
}

function roleOf(entry: unknown): unknown {
  return isPlainObject(entry) ? entry['role'] : undefined;
}

/** Frozen channel entries known to be messages: each step checks the whole conversation. */
const KNOWN = new WeakSet<object>();

function isMessage(entry: unknown): entry is Message {
  if (typeof entry !== 'object' || entry === null) return false;
  if (KNOWN.has(entry)) return true;
  const isOne = isPlainObject(entry) && isOwnMessage(entry);
  if (isOne && Object.isFrozen(entry)) KNOWN.add(entry);
  return isOne;
}

/** A system prompt belongs to the agent, so a conversation cannot contain one. */
function isOwnMessage({ role, text, toolCalls, results }: Readonly<Record<string, unknown>>): boolean {
  if (role === 'user') return typeof text === 'string';
  if (role === 'assistant') return typeof text === 'string' && isList(toolCalls, ['id', 'name', 'input']);
  return role === 'tool' && isList(results, ['id', 'name', 'output']);
}

function isList(value: unknown, texts: readonly string[]): boolean {
  if (!Array.isArray(value)) return false;
  return value.every((one) => isPlainObject(one) && texts.every((key) => typeof one[key] === 'string'));
}

function nothingSaid(): SkeinError {
  return new SkeinError('SKEIN_INPUT', 'there is nothing to answer: the prompt and the conversation are empty', {
    hint: 'give the agent a prompt, or put a message of a user into its conversation',
  });
}

function notMessages(channel: string, why: string): SkeinError {
  return new SkeinError('SKEIN_INPUT', `"${channel}" is not a conversation: ${why}`, {
    hint: "such as [{ role: 'user', text: 'Hello.' }]; only agents with this conversation should write it",
  });
}
