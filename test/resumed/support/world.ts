import type { Message, Model, ModelPart, ModelRequest, ToolSpec } from '../../../src/agent/model.js';
import type { ModelRegistryOptions } from '../../../src/agent/models/registry-options.js';
import type { Json } from '../../../src/base/json.js';
import { SkeinError } from 'skein';
import { seededRandom } from '../../../src/testing/index.js';
import { numberOf, wordOf } from './drawing.js';

/** A part of a JSON Schema, as far as answers are made from it. */
interface Part {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, Part>>;
  readonly items?: Part;
  readonly maxItems?: number;
}

/** What a program can do in one process, and what it did. */
export class World {
  /** Calls of models that were answered, and effects: `model KEY` and so on. */
  readonly done: string[] = [];
  private readonly random: () => number;

  /** `refused`: what providers refused once, and now answer. */
  constructor(
    order: string,
    readonly refused = new Set<string>(),
    private readonly isDead: () => boolean = () => false,
  ) {
    this.random = seededRandom(order);
  }

  /** What a process does after its death has not been done. */
  did(what: string): void {
    if (!this.isDead()) this.done.push(what);
  }

  /** Some turns of the event loop, by the order of this process. */
  async delay(): Promise<void> {
    for (let turns = Math.floor(this.random() * 5); turns > 1; turns--) await new Promise((next) => setImmediate(next));
  }

  /** Models that answer by what they are asked, each time the same. A prompt that says `busy` is refused once, and the call made again; `flaky` fails the step once, `broken` always. */
  models(): Partial<ModelRegistryOptions> {
    const own = (name: string): Model => ({
      id: `own/${name}`,
      structuredOutput: true,
      stream: (request) => this.answer(request),
    });
    return { env: {}, noProbe: true, override: 'own/m', providers: { own } };
  }

  private refuse(messages: readonly Message[], key: string, word: string): void {
    const prompt = messages.findLast(({ role }) => role === 'user');
    const how = prompt?.role === 'user' ? /Do it, (busy|flaky|broken)\./.exec(prompt.text)?.[1] : undefined;
    if (how === 'broken') throw new SkeinError('SKEIN_MODEL_REFUSED', `broken ${word}`);
    const isFirst = messages.at(-1) === prompt && numberOf(`refused ${word}`) % 2 === 0 && !this.refused.has(key);
    if (how === undefined || !isFirst) return;
    this.refused.add(key);
    if (how === 'flaky') throw new SkeinError('SKEIN_MODEL_REFUSED', how);
    throw new SkeinError('SKEIN_MODEL_OVERLOADED', how, { retryable: true, retryAfterMs: 1 });
  }

  private async *answer({ messages, tools, caller, output }: ModelRequest): AsyncGenerator<ModelPart> {
    await this.delay();
    // A second attempt is asked the same, and says the same, also what runs again at the end of a run.
    const path = caller.path.replaceAll(/~\d+/g, '').replace(/^finally#\d+/, 'finally');
    const word = wordOf([path, caller.phase, messages.map(partsOf)]);
    const key = `model ${path} ${caller.phase ?? ''} ${word}`;
    if (caller.phase === undefined) this.refuse(messages, key, word);
    const usable = tools.filter(({ name }) => !UNUSED.test(name));
    const calls = callsOf(messages, usable, word);
    if (calls.length > 0) for (const call of calls) yield { type: 'tool-call', call };
    else {
      const schema: Part | undefined = output?.schema ?? fieldsOf(caller.fields) ?? schemaIn(messages);
      yield { type: 'text', text: textOf(word, schema, messages) };
    }
    await this.delay();
    this.did(key);
    const usage = { inputTokens: 1 + (numberOf(word) % 50), outputTokens: 1 };
    yield { type: 'finish', reason: calls.length > 0 ? 'tool-calls' : 'stop', usage };
  }
}

/** Their results follow from what others did in the folder, or at what time. */
const UNUSED = /^(list_dir|glob|grep|edit_file|.*memory.*)$/;

/** What of a message an answer follows from. */
function partsOf(message: Message): unknown {
  if (message.role === 'tool') return message.results.map(({ name, output, isError }) => [name, output, isError]);
  if (message.role === 'assistant') return [message.text, message.toolCalls.map(({ name, input }) => [name, input])];
  return [message.role, message.text];
}

/** Now and then not what the schema says: the model is asked once more. */
function textOf(word: string, schema: Part | undefined, messages: readonly Message[]): string {
  const mayEnd = numberOf(`end ${word}`) % 2 === 0 && JSON.stringify(messages).includes('CONVERGED');
  if (mayEnd) return `t${word}\nCONVERGED`;
  if (schema !== undefined && numberOf(`odd ${word}`) % 6 > 0) return JSON.stringify(valueOf(schema, word));
  return `t${word} ${numberOf(word) % 2 === 0 ? 'yes' : 'no'}`;
}

function fieldsOf(fields: readonly string[] | undefined): Part | undefined {
  return fields === undefined ? undefined : { properties: Object.fromEntries(fields.map((field) => [field, {}])) };
}

/** The schema that the instructions have, where tools keep it from being a part of the request. */
function schemaIn(messages: readonly Message[]): Part | undefined {
  const [first] = messages;
  const text = first?.role === 'system' ? /must match this JSON Schema:\n(.*)/.exec(first.text)?.[1] : undefined;
  return text === undefined ? undefined : (JSON.parse(text) as Part);
}

/** A value that a schema allows. */
export function valueOf(schema: Part, word: string): Json {
  const n = numberOf(word);
  if (schema.enum !== undefined) return schema.enum[n % schema.enum.length] ?? null;
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, part]) => [name, valueOf(part, `${word}${name}`)]));
  }
  if (schema.type === 'array') {
    const length = n % ((schema.maxItems ?? 3) + 1);
    return Array.from({ length }, (_, at) => valueOf(schema.items ?? {}, `${word}${at}`));
  }
  if (schema.type === 'boolean') return n % 2 === 0;
  if (schema.type === 'integer' || schema.type === 'number') return n % 10;
  return wordOf(word);
}

/** Calls of tools, for some turns after the last word of the user. */
function callsOf(messages: readonly Message[], tools: readonly ToolSpec[], word: string) {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
  const turns = since.filter(({ role }) => role === 'assistant').length;
  if (tools.length === 0 || turns > 2 || numberOf(`call ${word}`) % 3 === 0) return [];
  return Array.from({ length: 1 + (numberOf(`calls ${word}`) % 2) }, (_, at) => {
    const tool = tools[numberOf(`tool ${at} ${word}`) % tools.length] ?? tools[0];
    const input = valueOf(tool?.inputSchema ?? {}, `${word}${at}`);
    return { id: `c${turns}.${at}`, name: tool?.name ?? '', input: JSON.stringify(inputOf(tool?.name ?? '', input)) };
  });
}

/** Files of each folder: what a call says of one that is new depends on whether it is made again. */
export const FILES = ['known.txt', 'f1.txt', 'f2.txt', 'f3.txt'];

/** The file to read is never written. */
function inputOf(tool: string, input: Json): Json {
  if (typeof input !== 'object' || input === null || !('path' in input)) return input;
  return tool === 'write_file'
    ? { path: FILES[1 + (numberOf(JSON.stringify(input)) % 3)] ?? '', content: 'x' }
    : { path: 'known.txt' };
}
