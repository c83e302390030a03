import {
  DECLARED,
  declarationFaults,
  declarationsOf,
  type Declarations,
  type DeclaredSend,
} from '../plan/declarations.js';
import { any, list, map, names, text, texts } from '../text/forms.js';
import { describe, toJson, type SourceNode } from '../text/nodes.js';
import { readFields, type Fields } from '../text/shape.js';

const SEND = map(
  {
    tool: text('SERVER/TOOL, such as github/create_comment', { needed: true, pattern: '\\S' }),
    fixed: names(any(''), 'arguments with the only value that they may have; {{NAME}} is an input of the workflow'),
    free: texts('arguments that may have any value'),
  },
  'a call, with every argument that it may have',
);

export const DECLARATION_KEYS = {
  hosts: texts('hosts that agents may ask although untrusted text influenced it: example.com, *.example.com'),
  commands: list(
    { ...texts('program and arguments'), needed: true },
    'command lines that may run although untrusted text influenced them, word by word',
  ),
  sends: list(
    { ...SEND, needed: true },
    'calls that may send or change something although untrusted text influenced them',
  ),
} as const;

/**
 * Reads the keys `hosts`, `commands` and `sends`. `inputs` are the workflow's inputs; undefined if they are unknown here. Problem codes:
 * `bad-host`, `bad-command`, `bad-send`, `missing-tool`, `unknown-input`, and those of the types.
 */
export function readDeclarations(fields: Fields, inputs?: readonly string[]): Declarations {
  const { findings } = fields;
  const before = findings.list.length;
  for (const key of DECLARED) {
    const node = fields.filled(key);
    if (node === undefined) continue;
    if (node.kind !== 'list') {
      fields.error('wrong-type', key, `${key} must be a list, not ${describe(node)}`, HINTS[key]);
      continue;
    }
    for (const item of node.items) checkItem(item, key, fields);
  }
  if (findings.list.length > before) return {};
  const declared = readJson(fields);
  for (const { key, index, code, message, hint } of declarationFaults(declared, inputs)) {
    const node = fields.node(key);
    findings.error(code, message, (node?.kind === 'list' ? node.items[index]?.at : undefined) ?? fields.at, hint);
  }
  return declared;
}

const HINTS = {
  hosts: 'write hosts: [example.com]',
  commands: 'write commands: [[npm, test]]',
  sends: 'write sends: [{ tool: SERVER/TOOL, fixed: { NAME: VALUE }, free: [NAME] }]',
} as const;

function checkItem(item: SourceNode, key: (typeof DECLARED)[number], { findings }: Fields): void {
  const wrong = (what: string, node: SourceNode): void =>
    findings.error('wrong-type', `an entry of ${key} must be ${what}, not ${describe(node)}`, node.at, HINTS[key]);
  if (key === 'hosts') {
    if (!isText(item)) wrong('a text', item);
    return;
  }
  if (key === 'commands') {
    if (item.kind !== 'list') wrong('a list of words', item);
    else item.items.filter((word) => !isText(word)).forEach((word) => wrong('a list of words', word));
    return;
  }
  const send = readFields(item, { name: 'an entry of sends', form: SEND }, findings);
  if (send === undefined) return;
  if ((send.text('tool') ?? '').trim() === '')
    send.error('missing-tool', 'tool', 'an entry of sends names no tool', 'write tool: github/create_comment');
  send.entries('fixed');
  send.texts('free');
}

function isText(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value !== null;
}

function wordsOf(node: SourceNode): readonly string[] {
  return node.kind === 'list' ? node.items.map((word) => (word.kind === 'scalar' ? word.text : '')) : [];
}

function readJson(fields: Fields): Declarations {
  const items = (key: string): readonly SourceNode[] | undefined => {
    const node = fields.node(key);
    return node?.kind === 'list' ? node.items : undefined;
  };
  return declarationsOf({
    hosts: items('hosts')?.map((host) => (host.kind === 'scalar' ? host.text.trim() : '')),
    commands: items('commands')?.map(wordsOf),
    sends: items('sends')?.map(sendOf),
  } as Declarations);
}

/** Reads names as texts, however they are written: `tool: 7` names the tool "7". The values of `fixed` keep their types. */
function sendOf(node: SourceNode): DeclaredSend {
  // A key without a value counts as absent.
  const entries = (node.kind === 'map' ? node.entries : []).filter(
    ({ value }) => value.kind !== 'scalar' || value.value !== null,
  );
  const given = entries.map(({ key, value }): [string, unknown] => {
    if (key === 'tool' && value.kind === 'scalar') return [key, value.text.trim()];
    return [key, key === 'free' ? wordsOf(value) : toJson(value)];
  });
  return Object.fromEntries(given) as unknown as DeclaredSend;
}
