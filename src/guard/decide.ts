import type { JsonObject } from '../base/json.js';
import { canonicalJson } from '../base/hash.js';
import type { Declarations, DeclaredSend } from '../plan/declarations.js';
import type { Policy } from '../plan/policy.js';
import { addressesIn, type CallEffect } from './effects.js';
import type { Label } from './label.js';
import { sameTexts } from '../base/collections.js';

export interface GuardedCall {
  readonly effect: CallEffect;
  /** The tool's name in declarations: `shell`, `fetch`, `github/create_comment`. */
  readonly tool: string;
  /** The input under the tool's own argument names. */
  readonly input: JsonObject;
  /** Set for a server's tool: whether the agent names the tool itself, not only the server. */
  readonly server?: { readonly named: boolean } | undefined;
  /** For a command: program and arguments. */
  readonly argv?: readonly string[] | undefined;
  /** Whether the author of the workflow wrote the whole call: others could influence only whether it is made. */
  readonly isFixed?: boolean | undefined;
  /** For a write: whether it creates a new text file, or replaces one that this step has written. */
  readonly write?: 'data' | 'own' | undefined;
  /** Whether the agent has tools or inputs that may contain private data. */
  readonly seesPrivate: boolean;
}

/** The declarations of a file that the user trusts, and the conditions of the run. */
export interface GuardRules extends Declarations, Pick<Policy, 'project' | 'servers'> {
  /** Whether commands run without network and keys. */
  readonly sandboxed?: boolean;
  /** Whether something in the project was written under an influence that must not decide what runs. */
  readonly planted?: boolean;
}

export interface Decision {
  readonly kind: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly why?: string;
  readonly sources?: readonly string[];
  /** The declaration with which the user could allow such calls. */
  readonly declare?: string;
}

/** Decides about a call by its label, as the first of the tiers. It depends on nothing else, so a replay decides the same. */
export function decide(call: GuardedCall, label: Label, rules: GuardRules): Decision {
  const planted = call.effect === 'run' && rules.planted === true;
  if (label.level === 'trusted' && !planted) return { kind: 'allow', rule: 'trusted' };
  if (call.isFixed === true && !planted && rules.project !== 'untrusted') return { kind: 'allow', rule: 'written' };
  const found = BY_EFFECT[call.effect](call, planted ? { ...label, level: 'untrusted' } : label, rules);
  if (typeof found === 'string') return { kind: 'allow', rule: found };
  return { kind: 'ask', ...found, sources: label.more === true ? [...label.sources, 'and more'] : label.sources };
}

/** The rule that allows a call, or why a person must decide. */
type Finding = string | Required<Pick<Decision, 'rule' | 'why' | 'declare'>>;

const BY_EFFECT: Readonly<Record<CallEffect, (call: GuardedCall, label: Label, rules: GuardRules) => Finding>> = {
  read({ server, tool }, { level }) {
    if (server === undefined || level !== 'untrusted') return 'read';
    if (server.named) return 'named-read';
    return {
      rule: 'unnamed-read',
      why: `the agent does not name ${tool} itself, and only the server says that it does nothing but read`,
      declare: `tools: [${quoted(tool)}]`,
    };
  },

  get({ input, seesPrivate, server, tool }, { level, isPrivate }, { hosts = [] }) {
    const unknown = addressesIn(input).filter(({ where }) => where === undefined || !isDeclaredHost(where, hosts));
    if (unknown.length === 0) return 'host';
    if (!seesPrivate && !isPrivate && server === undefined) return 'nothing-private';
    const places = [...new Set(unknown.map(({ where, text }) => where ?? text))];
    return {
      rule: 'undeclared-host',
      why: `${tool} tells ${places.join(', ')} something, and ${heardFrom(level)} influenced what`,
      declare: `hosts: ${list(places)}`,
    };
  },

  write({ write, tool }, { level }) {
    if (level !== 'untrusted') return 'write';
    if (write === 'data') return 'data-file';
    if (write === 'own') return 'own-file';
    return {
      rule: 'changes-project',
      why: `${tool} changes what is there, or makes a file that a program may run, and ${heardFrom(level)} influenced it`,
      declare: 'nothing can be declared for this: write new text files, such as .md or .csv',
    };
  },

  run({ argv, input, tool }, { level }, { commands = [], sandboxed = false }) {
    const line = argv ?? [];
    const here = input['cwd'] === undefined || input['cwd'] === '.';
    const isDeclared = line.length > 0 && here && commands.some((one) => sameTexts(one, line));
    if (isDeclared && (level !== 'untrusted' || sandboxed)) return 'command';
    return {
      rule: isDeclared ? 'no-sandbox' : 'undeclared-command',
      why: isDeclared
        ? `${tool} runs a declared command, but ${heardFrom(level)} influenced what it finds, and nothing keeps it from the network`
        : `${tool} runs a command, and ${heardFrom(level)} influenced which`,
      declare: isDeclared ? 'sandbox: offline' : `commands: [${list(line)}]`,
    };
  },

  send({ tool, input }, { level }, { sends = [] }) {
    if (sends.some((one) => one.tool === tool && covers(one, input))) return 'send';
    return {
      rule: 'undeclared-send',
      why: `${tool} changes or sends something outside, and ${heardFrom(level)} influenced it`,
      // Omits the values of the call: they are what is in doubt.
      declare: `sends: [{ tool: ${quoted(tool)}, fixed: { ${Object.keys(input)
        .map((name) => `${quoted(name)}: ...`)
        .join(', ')} }, free: [] }]`,
    };
  },
};

function heardFrom(level: Label['level']): string {
  return level === 'untrusted' ? 'untrusted text' : 'what lies in the project';
}

/** Whether declared hosts include one: by its whole name, or below a `*.` entry. */
export function isDeclaredHost(host: string, declared: readonly string[]): boolean {
  const name = host.toLowerCase();
  return declared.some((one) => {
    const wanted = one.trim().toLowerCase();
    if (!wanted.startsWith('*.')) return name === wanted;
    return name === wanted.slice(2) || (wanted.length > 2 && name.endsWith(wanted.slice(1)));
  });
}

/** Every argument has its fixed value or is free, and no fixed one is missing. */
function covers({ fixed = {}, free = [] }: DeclaredSend, input: JsonObject): boolean {
  const fixedHold = Object.entries(fixed).every(
    ([name, value]) => Object.hasOwn(input, name) && canonicalJson(input[name]) === canonicalJson(value),
  );
  return fixedHold && Object.keys(input).every((name) => Object.hasOwn(fixed, name) || free.includes(name));
}

function list(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`;
}

/** A word as a file can hold it: what a model or a server chose must not become more than one word there, or be hidden. */
function quoted(word: string): string {
  if (/^[A-Za-z_][\w./-]*$/.test(word) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(word)) return word;
  return JSON.stringify(word).replace(
    /[^ -~\p{L}\p{N}\p{P}\p{S}]|[\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (char) => {
      const code = (char.codePointAt(0) ?? 0).toString(16);
      return code.length > 4 ? String.raw`\U${code.padStart(8, '0')}` : String.raw`\u${code.padStart(4, '0')}`;
    },
  );
}
