import type { Position } from '../base/problem.js';
import { any, names, text } from '../text/forms.js';
import type { SourceNode, SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';

/** The keys of a step that runs another file, in YAML. */
export const CALL_KEYS = {
  file: text('a pipeline or a DAG workflow, relative to this file', { needed: true }),
  inputs: names(any('a text, a list or a map; references are filled in'), 'inputs of that file, by name'),
} as const;

/** Another file, as it was written. */
export interface CallDef {
  /** Absent: something was reported. */
  readonly file: SourceScalar | undefined;
  readonly inputs: readonly GivenInput[];
}

/** What an input of the file gets: a value whose texts may hold references. */
export interface GivenInput {
  readonly name: string;
  readonly value: SourceNode;
  readonly at: Position;
}

/** Reads the keys of a call. Problem codes: `missing-file`, and those of the types. */
export function readCallKeys(fields: Fields): CallDef {
  if (fields.lacks('file'))
    fields.error('missing-file', 'file', `${fields.name} calls no file`, 'add "file: PATH", relative to this file');
  const inputs = fields.entries('inputs') ?? [];
  return { file: fields.scalar('file'), inputs: inputs.map(({ key: name, value, at }) => ({ name, value, at })) };
}
