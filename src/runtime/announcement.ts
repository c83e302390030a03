import { nodePathOf } from '../base/address.js';
import type { CompiledPlan } from '../engine/graph/compile.js';
import { codeOf } from '../engine/durable/identity.js';
import type { RunWarning } from '../engine/services.js';
import { forkStart } from '../journal/fork-start.js';
import type { Changes } from './changes.js';
import { changesText } from './changes.js';
import type { GoingOn, RecordedRun } from './going-on.js';
import { changesOf } from './going-on.js';
import type { RunOptions } from './options.js';

/** The run about which something is reported. */
interface Announced {
  readonly compiled: CompiledPlan;
  readonly options: RunOptions;
  /** What whoever started it has told already. */
  readonly told?: Changes;
}

/** What is reported before anything runs, and of which steps. */
export interface Announcement {
  readonly warnings: readonly RunWarning[];
  /** Whether it was told of a step that it runs again. */
  readonly announced: (path: string) => boolean;
}

/** What is reported of a run before anything of it runs: what has changed since it was recorded. */
export function announcement(
  { compiled, told, options }: Announced,
  recorded: RecordedRun | undefined,
  going: GoingOn,
): Announcement {
  if (recorded === undefined) return { warnings: [], announced: () => false };
  const definition = { plan: compiled.plan, code: codeOf(compiled) };
  const { fork } = options;
  const forgotten = fork === undefined ? undefined : forkStart(recorded.family, compiled.plan, fork).steps;
  const changes = told ?? changesOf(recorded, definition, going, forgotten);
  const paths = new Set([...changes.again, ...changes.maybe]);
  return {
    warnings: told === undefined ? warningsOf(recorded, changes) : [],
    announced: (path) => paths.size > 0 && isAround(paths, nodePathOf(path)),
  };
}

/** A step is among these, or one that it is inside of. */
function isAround(steps: ReadonlySet<string>, path: string): boolean {
  const ids = path.split('/');
  return ids.some((_, at) => steps.has(ids.slice(0, at + 1).join('/')));
}

/** What the one who continues a run sees, unless the one who started it has. */
function warningsOf(recorded: RecordedRun, changes: Changes): readonly RunWarning[] {
  const [{ cut }] = recorded.family;
  const message = changesText(changes, recorded);
  return [
    ...(cut === undefined ? [] : [{ code: 'torn-record', message: `the end of the record is incomplete: ${cut}` }]),
    ...(message === '' ? [] : [{ code: 'changed', message }]),
  ];
}
