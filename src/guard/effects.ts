import { lazily } from '../base/collections.js';
import { isPlainObject, type Json, type JsonObject } from '../base/json.js';
import { BUILT_IN, takes, type BuiltInTool } from '../plan/built-in-tools.js';

/** The effect of a call on the world. `get` requests something from an address, and so also reveals something to it. */
export type CallEffect = 'read' | 'get' | 'write' | 'run' | 'send';

export interface CalledTool {
  readonly builtIn?: BuiltInTool | undefined;
  /** The effect that the tool, or the program, declares. Meaningless for a server's tool. */
  readonly effect: 'read' | 'idempotent' | 'once';
  /** Set for a server's tool. */
  readonly server?: { readonly readOnly: boolean } | undefined;
}

/** The effect of a call with this input. A server's hint counts only for reading, and an address in the input makes a read a `get`. */
export function effectOf({ builtIn, effect, server }: CalledTool, input: JsonObject): CallEffect {
  if (builtIn !== undefined) return ofBuiltIn(builtIn, input);
  if (server === undefined) return effect === 'read' ? 'read' : 'send';
  if (!server.readOnly) return 'send';
  return addressesIn(input).length > 0 ? 'get' : 'read';
}

function ofBuiltIn(tool: BuiltInTool, { method, body }: JsonObject): CallEffect {
  if (takes(tool, 'command')) return 'run';
  if (takes(tool, 'address')) return (method === undefined || method === 'GET') && body === undefined ? 'get' : 'send';
  return BUILT_IN[tool].effect === 'read' ? 'read' : 'write';
}

/** An address in a call: `where` is its host, with the port if unusual, or undefined if it cannot be determined. */
export interface Address {
  readonly text: string;
  readonly where: string | undefined;
}

/** Argument names whose value is an address or a recipient, whatever it looks like. */
const NAMED =
  /^(?:.*_)?(?:ur[il]s?|href|links?|hosts?|host_?name|domains?|endpoint|webhook|recipients?|to|cc|bcc|e?mail)$/i;
/** Argument names whose value is a path, so that `notes.md` is not taken for a host. */
const PATHS = /(?:^|_)(?:path|file|files|filename|file_name|folder|dir|directory|glob|pattern)$/i;
const HOST = lazily(
  () => /^(?:[\p{L}\p{M}\p{N}_-]+\.)+\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}]\.?(?::\d+)?(?:[/?#]|$)/u,
);
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?#]\S*)?$/i;
const URLS = /(?:\b[a-z][a-z0-9+.-]{0,30}:)?\/\/[^\s"'<>\\^`{|}]+|\bwww\.[^\s"'<>]+/gi;
const BETWEEN_MAILS = /[\s"'<>(),;:]+/;
const LONGEST_HOST = 2_048;

/** Returns hosts, addresses and recipients among the values of an input. */
export function addressesIn(input: JsonObject): readonly Address[] {
  const found: Address[] = [];
  look(input, '', found, 0);
  return found;
}

/** Values nested deeper count as an undeterminable address. */
const DEEPEST = 50;

/** If there are more, the targets count as undeterminable. */
const MOST_ADDRESSES = 100;

function look(value: Json, name: string, found: Address[], depth: number): void {
  if (found.length > MOST_ADDRESSES) return;
  if (typeof value === 'string') inText(value, name, found);
  else if (depth > DEEPEST) found.push({ text: '...', where: undefined });
  else if (Array.isArray(value)) value.forEach((one: Json) => look(one, name, found, depth + 1));
  else if (isPlainObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      inText(key, '', found);
      look(inner, key, found, depth + 1);
    }
  }
}

function inText(text: string, name: string, found: Address[]): void {
  const before = found.length;
  // A program may read what looks like two words as one address.
  if (/^\s*https?:/i.test(text)) found.push({ text, where: placeOf(text) });
  for (const [url] of text.matchAll(URLS)) {
    if (found.length >= MOST_ADDRESSES) break;
    found.push({ text: url, where: placeOf(url) });
  }
  if (text.includes('@')) found.push(...mailsIn(text).slice(0, MOST_ADDRESSES));
  if (found.length >= MOST_ADDRESSES) found.push({ text: '...', where: undefined });
  const whole = text.trim();
  const words = inSnakeCase(name);
  const isNamed = NAMED.test(words);
  // Its path or query may hold other addresses, which do not tell where it leads.
  if (isHost(whole) && !(PATHS.test(words) && !IP.test(whole))) found.push({ text: whole, where: placeOf(whole) });
  else if (found.length > before) found.push(...(isNamed ? inWords(whole) : []));
  else if (isNamed && whole !== '') found.push({ text: whole, where: undefined });
}

/** The name of an argument as most servers write it: `baseUrl` and `base-url` mean the same as `base_url`. */
function inSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|-/g, '_');
}

function isHost(text: string): boolean {
  return text.length <= LONGEST_HOST && (IP.test(text) || HOST().test(asConnected(text)));
}

/** A text as programs read the host in it: letters and dots in other forms, and escaped ones, are the usual ones. */
function asConnected(text: string): string {
  const plain = text.replace(/%[2-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return plain.normalize('NFKC').replaceAll('\u3002', '.');
}

/** Where a value that is an address may lead if a program takes it apart, or completes it with a scheme. */
function inWords(value: string): readonly Address[] {
  return value.split(/\s+/).flatMap((word): readonly Address[] => {
    if (!word.includes('//')) return isHost(word) ? [{ text: word, where: placeOf(word) }] : [];
    if (!BEGINS.test(word)) return [{ text: word, where: undefined }];
    const others = word.split(/[,;|]/).slice(1);
    return others.filter((one) => BEGINS.test(one)).map((one) => ({ text: one, where: placeOf(one) }));
  });
}

/** How an address begins, perhaps in quotes or brackets. */
const BEGINS = /^["'<([]*(?:https?:)?\/\//i;

function mailsIn(text: string): readonly Address[] {
  return text.split(BETWEEN_MAILS).flatMap((word) => {
    const at = word.lastIndexOf('@');
    if (at <= 0 || !word.includes('.', at + 2)) return [];
    // Before the `@` of a path or a query stands another host. What follows `//` is an address of its own, which was found as one.
    const where = /^(?!\/\/).*[\\/?#]/.test(word.slice(0, at)) ? undefined : word.slice(at + 1);
    return [{ text: word, where }];
  });
}

/** Characters and forms for which programs disagree about the host, or the end of the address. */
const AMBIGUOUS = lazily(() => /[\\\s\p{Cc}\p{Cf}]|^[^/?#]*\/\/[^/?#]*@|^https?:(?!\/\/[^/])/iu);

/** The host of an address, in lower case as it is connected to; with its port if unusual. */
function placeOf(address: string): string | undefined {
  const text = address.includes('//') ? address : `https://${address}`;
  const whole = text.startsWith('//') ? `https:${text}` : text;
  if (AMBIGUOUS().test(address) || !URL.canParse(whole)) return undefined;
  const { protocol, host } = new URL(whole);
  // A declaration would read the `*` in an address as all hosts below it.
  return (protocol === 'http:' || protocol === 'https:') && !host.includes('*') ? host : undefined;
}

/** Texts and tables that no program runs or obeys because of their name. */
const DATA = /\.(?:md|markdown|txt|rst|adoc|csv|tsv|jsonl|ndjson|log)$/i;

/** Exceptions: files whose names agents obey. */
const FOR_AGENTS =
  /^(?:(?:agents?|claude|codex|crush|gemini|qwen|warp|copilot-instructions|skills?|memory|rules|conventions)(?:\.(?:local|override))?\.md|.+\.(?:agent|prompt|instructions|chatmode|rules)\.md|llms.*\.txt|robots\.txt)$/i;

/** Exceptions: files whose names programs obey. Of texts whose name begins with `test`, pytest runs the examples. */
const FOR_PROGRAMS =
  /^(?:.*requirements.*|constraints.*|cmakelists|conanfile|meson_options|apt|packages|runtime|test.*)\.txt$/i;

/** Folders of scripts in plain texts: `go test` runs those of `testdata`. */
const OF_SCRIPTS: ReadonlySet<string> = new Set(['testdata']);

/**
 * Whether a file, by its path below the working directory, contains only text: neither its name nor a folder on the path begins with a dot,
 * and no program or agent looks for it to run or obey.
 *
 * @example
 * isDataFile('reports/july.md'); // true
 * isDataFile('package.json'); // false
 */
export function isDataFile(path: string): boolean {
  const names = path.split('/');
  const name = names.at(-1) ?? '';
  if (!DATA.test(name) || FOR_AGENTS.test(name) || FOR_PROGRAMS.test(name)) return false;
  return names.every((one) => !one.startsWith('.') && isPlain(one) && !OF_SCRIPTS.has(one.toLowerCase()));
}

/** Whether every file system and every program interprets all characters the same. */
function isPlain(name: string): boolean {
  return /^[\p{L}\p{N} _.,+()@-]+$/u.test(name);
}
