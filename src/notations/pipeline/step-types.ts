import { suggest } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Policies } from './read-policies.js';
import type { Findings } from '../../text/findings.js';
import { describe, entryOf, isNothing, seen, type SourceNode } from '../../text/nodes.js';
import type { Fields } from '../../text/shape.js';
import type { StepBase } from './definition.js';
import { STEP_FORMS, type WrittenType } from './keys.js';

const TYPES = Object.keys(STEP_FORMS) as readonly WrittenType[];
const ALL_KEYS: ReadonlySet<string> = new Set(Object.values(STEP_FORMS).flatMap(({ keys }) => Object.keys(keys)));

/** The likely type of a step without one, by a key that only this type requires. */
const TELLING: readonly (readonly [key: string, type: WrittenType])[] = [
  ['condition', 'condition'],
  ['cases', 'condition'],
  ['over', 'map'],
  ['question', 'ask'],
  ['file', 'call'],
  ['workflow', 'subworkflow'],
  ['until', 'loop'],
  ['steps', 'parallel'],
  ['event', 'wait'],
  ['values', 'set'],
  ['for', 'wait'],
  ['name', 'agent'],
];

/** Types of other systems, and those with the same meaning here. */
const MEANT: ReadonlyMap<string, WrittenType> = new Map([
  ...(['llm', 'model', 'prompt', 'chat', 'task'] as const).map((word) => [word, 'agent'] as const),
  ...(['if', 'switch', 'case', 'branch', 'choice', 'router'] as const).map((word) => [word, 'condition'] as const),
  ...(['foreach', 'for_each', 'for-each', 'each', 'for', 'batch'] as const).map((word) => [word, 'map'] as const),
  ...(['human', 'human_gate', 'approval', 'question', 'input', 'confirm'] as const).map(
    (word) => [word, 'ask'] as const,
  ),
  ...(['shell', 'script', 'command', 'exec', 'bash'] as const).map((word) => [word, 'run'] as const),
  ...(['while', 'repeat', 'until'] as const).map((word) => [word, 'loop'] as const),
  ...(['delay', 'sleep', 'timer'] as const).map((word) => [word, 'wait'] as const),
  ...(['terminate', 'exit', 'stop', 'return'] as const).map((word) => [word, 'end'] as const),
]);

/** The keys that steps without a model do not have. */
export const OTHER_BODIES: readonly string[] = [...TELLING.map(([key]) => key), 'prompt', 'goto'].filter(
  (key) => key !== 'name',
);

export interface OpenStep {
  readonly fields: Fields;
  /** Such as `steps[2].false[0]`. */
  readonly path: string;
  readonly base: Omit<StepBase, keyof Policies>;
}

/** Returns a step's type; with only `goto` it needs none. Problem codes: `missing-type`, `unknown-value`, `wrong-type`, `unknown-key`. */
export function typeOf(node: SourceNode, path: string, findings: Findings): WrittenType | undefined {
  if (node.kind !== 'map') {
    const hint = 'begin it with "- type: agent"';
    findings.error('wrong-type', `workflow ${path}: a step must be a map, not ${describe(node)}`, node.at, hint);
    return undefined;
  }
  const written = entryOf(node, 'type')?.value;
  if (written === undefined || isNothing(written)) {
    if (entryOf(node, 'goto') !== undefined) return 'goto';
    reportMissingType(node, path, findings);
    return undefined;
  }
  const word = written.kind === 'scalar' ? written.text : '';
  const found = TYPES.find((type) => type === word.toLowerCase());
  if (found !== undefined) return found;
  const message = `workflow ${path}: unknown type ${seen(written)}`;
  const meant = MEANT.get(word.toLowerCase());
  const near = meant === undefined ? findings.near(word, TYPES) : `did you mean "${meant}"?`;
  const hint = near ?? `write one of: ${TYPES.join(', ')}`;
  findings.error('unknown-value', message, written.at, hint);
  return undefined;
}

function reportMissingType(node: SourceNode & { kind: 'map' }, path: string, findings: Findings): void {
  const misspelt = node.entries.find(({ key }) => !ALL_KEYS.has(key) && suggest(key, ['type']) !== undefined);
  if (misspelt !== undefined) {
    const message = `unknown key ${quoteShort(misspelt.key)} in ${path}`;
    findings.error('unknown-key', message, misspelt.at, 'did you mean "type"?');
    return;
  }
  const likely = TELLING.find(([key]) => entryOf(node, key) !== undefined)?.[1];
  const other = likely === 'parallel' ? ', or "type: sequence" for steps one after the other' : '';
  const hint = likely === undefined ? `add "type:" with one of: ${TYPES.join(', ')}` : `add "type: ${likely}"${other}`;
  findings.error('missing-type', `workflow ${path}: step requires type`, node.at, hint);
}

const REQUIRED: Partial<Record<WrittenType, readonly [key: string, code: string, hint: string]>> = {
  agent: ['name', 'missing-agent', 'add "name: AGENT"'],
  condition: ['condition', 'missing-condition', 'add "condition: $steps.ID.output"'],
  goto: ['goto', 'missing-target', 'add "goto: ID", the id of a step around it'],
};

/** Reports the required key that a step lacks. Problem codes: `missing-agent`, `missing-condition`, `missing-target`. */
export function checkRequired(type: WrittenType, { fields, path }: OpenStep): void {
  const [key, code, hint] = REQUIRED[type] ?? [];
  if (key === undefined || code === undefined || !fields.lacks(key)) return;
  // The condition has cases instead.
  if (type === 'condition' && fields.names('cases')) return;
  fields.error(code, key, `workflow ${path}: ${type} step requires ${key}`, hint);
}
