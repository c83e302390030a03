import { SkeinError } from '../../base/errors.js';
import { freezeData, type Json } from '../../base/json.js';
import { formatProblem, DataPlace } from '../../base/problem.js';
import {
  Problems,
  count,
  fields,
  flag,
  integer,
  json,
  oneOf,
  record,
  text,
  type PlacedProblem,
  type Shape,
} from './shapes.js';
import type { ArtifactDef, Budget, Orchestration, Persistence, Spec, State } from './spec.js';

export const WORKFLOW = new DataPlace('workflow');

const artifact = fields<ArtifactDef>(
  { type: text, description: text, mode: oneOf('replace', 'append') },
  ['type'],
  'closed',
);

const state = fields<State>(
  {
    prompt_task: text,
    description: text,
    on_event: record(text),
    // A separate rule, with its own message, checks which words are allowed.
    persistence: text as Shape<Persistence>,
    orchestration: text as Shape<Orchestration>,
    composition: text,
    skills: text,
    terminal: flag,
    max_visits: count,
    on_max_visits: text,
    artifacts: record(artifact),
  },
  [],
  'closed',
);

export const BUDGET_KEYS = ['max_total_visits', 'max_tool_calls', 'max_wall_time_sec'] as const;

/** Keys without a meaning are kept: one of the two schemas allows them. */
const budget = fields<Budget>({ max_total_visits: count, max_tool_calls: count, max_wall_time_sec: count }, [], 'open');

const engine: Shape<NonNullable<Spec['engine']>> = (value, place, problems) => {
  const read = json(value, place, problems);
  if (read !== undefined && Object.hasOwn(read, 'budget')) budget(read['budget'], place.field('budget'), problems);
  return read;
};

const spec = fields<Spec>(
  { version: integer, entry: text, states: record(state), engine },
  ['version', 'entry', 'states'],
  'closed',
);

/** Specs that were already read: they are frozen. */
const READ = new WeakSet<object>();

/** Reads the data of a machine. Returns a frozen copy, or the problems of its form. */
export function readSpec(raw: unknown): { readonly spec?: Spec; readonly problems: readonly PlacedProblem[] } {
  if (typeof raw === 'object' && raw !== null && READ.has(raw)) return { spec: raw as Spec, problems: [] };
  const problems = new Problems();
  const read = spec(raw, WORKFLOW, problems);
  if (read === undefined || problems.found.length > 0) return { problems: problems.found };
  return { spec: rightSpec(read), problems: [] };
}

/** Takes the data of a machine as it is, frozen. Its form must be checked already, by rules at least as strict as those of {@link readSpec}. */
export function rightSpec(data: Spec): Spec {
  READ.add(freezeData(data));
  return data;
}

/**
 * Reads the `workflow` section of a pack into a frozen copy. Null and undefined yield null: the section is optional. References
 * between states are not checked; {@link validateSpec} does that.
 *
 * @throws SkeinError `SKEIN_DEFINITION` if something has the wrong type, is missing or is unknown; `details.problems` lists all problems
 * @example
 * const spec = parseSpec(JSON.parse(text).workflow);
 */
export function parseSpec(raw: unknown): Spec | null {
  return raw === undefined || raw === null ? null : specOf(raw);
}

/** @throws SkeinError `SKEIN_DEFINITION` */
export function specOf(raw: unknown): Spec {
  const { spec: read, problems } = readSpec(raw);
  if (read !== undefined) return read;
  const found = problems.map(({ problem }) => problem);
  throw new SkeinError('SKEIN_DEFINITION', found.map(formatProblem).join('\n'), {
    details: { problems: found.map((problem): Json => ({ ...problem, at: null })) },
  });
}
