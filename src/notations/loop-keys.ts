import { quoteShort } from '../lang/value-text.js';
import { MOST_ROUNDS } from '../plan/limits.js';
import type { LoopNode } from '../plan/plan.js';
import { either, integer, map, text, word } from '../text/forms.js';
import type { SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';

const LINE = map(
  {
    line: text('a line of the output of the last step, without spaces around it', {
      pattern: '^[^\\n]*\\S[^\\n]*$',
      needed: true,
    }),
  },
  '',
);

export const LOOP_KEYS = {
  until: either(
    [text('', { needed: true }), LINE],
    'when it ends: a reference that is true, an expression, or {line: TEXT}',
    { needed: true },
  ),
  max_rounds: integer('rounds at most', { min: 1, max: MOST_ROUNDS, needed: true }),
  rounds: text('a reference to how many rounds this run makes at most, up to max_rounds'),
  keep: word(['last', 'before'], 'before: the output is that of the round before the one that ended it', {
    default: 'last',
  }),
  on_limit: word(['fail', 'continue'], 'when it did not end within its rounds: continue takes the last one', {
    default: 'fail',
  }),
} as const;

const KEYS = map(LOOP_KEYS, '');

export interface LoopDef {
  /** A reference or an expression. Undefined if `line` is set or a problem was reported. */
  readonly until: SourceScalar | undefined;
  readonly line: string | undefined;
  readonly maxRounds: number;
  readonly rounds: SourceScalar | undefined;
  readonly keep: LoopNode['keep'];
  readonly onMaxRounds: LoopNode['onMaxRounds'];
}

/** Reads the keys of a loop. Problem codes: `missing-until`, `unbounded-loop`, and those of the types. */
export function readLoop(fields: Fields): LoopDef {
  const { max_rounds: maxRounds = 1, keep, on_limit: onLimit } = fields.values(KEYS);
  const { name } = fields;
  const ends = 'add "until:" with a reference to an output, or {line: TEXT}';
  fields.needs('until', 'missing-until', `nothing says when ${name} ends`, ends);
  fields.needs('max_rounds', 'unbounded-loop', `${name} has no bound`, 'add "max_rounds: 5"');
  const isMap = fields.node('until')?.kind === 'map';
  return {
    until: isMap ? undefined : fields.given('until'),
    line: isMap ? readLine(fields) : undefined,
    maxRounds,
    rounds: fields.given('rounds'),
    keep: keep === 'before' ? keep : undefined,
    onMaxRounds: onLimit === 'continue' ? 'degrade' : undefined,
  };
}

function readLine(loop: Fields): string | undefined {
  const fields = loop.fields('until', LINE);
  const line = fields?.given('line');
  fields?.needs('line', 'missing-until', `${fields.name} names no line`, 'write until: {line: DONE}');
  if (line?.text.includes('\n') === true) {
    const hint = 'write one line of text';
    fields?.error('bad-line', 'line', `line of ${fields.name} is ${quoteShort(line.text)}`, hint);
    return undefined;
  }
  return line?.text.trim();
}
