import { SkeinError } from '../../base/errors.js';
import { suggest } from '../../base/suggest.js';
import type { Store } from '../../index.js';
import { shellWord } from './text.js';

/** The run argument of commands that read a run: its name and description. */
export const RUN = ['<run>', 'id of the run, or its beginning or end; -1 is the newest run'] as const;

/** Minimum length of a short id. */
const SHORTEST = 8;
/** Maximum number of runs named in a hint. */
const NAMED = 5;

/** The names of what is recorded, newest first. */
export interface Recorded {
  readonly ids: readonly string[];
  readonly threads: () => Promise<readonly string[]>;
}

export function recordedIn(store: Store): Recorded {
  return {
    ids: store.ids(),
    threads: async () => (await import('../../index.js')).listThreads(store).map(({ id }) => id),
  };
}

/**
 * Resolves the run that a user names: a whole id, a unique beginning or end of one, or `-1` for the newest run, `-2` for the one before.
 *
 * @throws SkeinError `SKEIN_NO_RUN` with the runs that may be meant, or with the commands for a conversation of this name
 * @example
 * await findRun(recordedIn(store), '-1'); // '01a2004c-c9dc-7012-8345-6789abcdef01'
 */
export async function findRun({ ids, threads }: Recorded, text: string): Promise<string> {
  if (ids.length === 0 && !(await threads()).includes(text))
    throw noRun('no run is recorded here', 'skein run FILE records one');
  if (ids.includes(text)) return text;
  if (/^-\d{1,6}$/.test(text)) {
    const id = ids[Number(text.slice(1)) - 1];
    if (id !== undefined) return id;
    throw noRun(`there is no run ${text}: ${countOf(ids)} recorded here`, 'skein runs lists them, -1 is the newest');
  }
  const found = text === '' ? [] : ids.filter((id) => id.startsWith(text) || id.endsWith(text));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only !== undefined) throw noRun(`${text} matches ${found.length} runs`, `give more of its id: ${named(found)}`);
  if ((await threads()).includes(text)) {
    const name = shellWord(text);
    const hint = `skein thread ${name} shows its turns and their runs, skein run FILE --thread ${name} continues it`;
    throw noRun(`${text} is a conversation, not a run`, hint);
  }
  throw noRun(`there is no run ${text}`, nearest(text, ids));
}

/** Returns the shortest unique end of an id: `abcdef01`. */
export function shortId(id: string, ids: readonly string[]): string {
  if (!UUID.test(id)) return id;
  for (let length = SHORTEST; length < id.length; length++) {
    const end = id.slice(-length);
    if (!ids.some((other) => other !== id && (other.endsWith(end) || other.startsWith(end)))) return end;
  }
  return id;
}

/** Ids chosen by people are not shortened. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function nearest(text: string, ids: readonly string[]): string {
  const meant = suggest(text, [...ids, ...ids.map((id) => shortId(id, ids))]);
  if (meant !== undefined) return `did you mean "${meant}"? skein runs lists the runs`;
  const thread = /^[\da-f-]+$/.test(text) ? '' : ', skein threads the conversations';
  return `skein runs lists the runs${thread}; the newest: ${named(ids)}`;
}

function named(ids: readonly string[]): string {
  return ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ' …' : '');
}

function countOf(ids: readonly string[]): string {
  return ids.length === 1 ? '1 run is' : `${ids.length} runs are`;
}

function noRun(message: string, hint: string): SkeinError {
  return new SkeinError('SKEIN_NO_RUN', message, { hint });
}
