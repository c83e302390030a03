import { SkeinError } from '../../base/errors.js';
import type { Problem } from '../../base/problem.js';
import { hasErrors } from '../../base/problem.js';
import { createFindings, sortProblems } from '../../text/findings.js';
import { parseJson } from '../../text/json.js';
import { toJson } from '../../text/nodes.js';
import { parseYaml } from '../../text/yaml.js';
import { checkPack } from './check-pack.js';
import type { PackSchema } from './dialect.js';
import type { Pack } from './pack.js';

/**
 * How a pack is judged.
 *
 * @example
 * const options = { file: 'support.pack.json', schema: '1.5' } satisfies PackOptions;
 */
export interface PackOptions {
  /** Name of the file that the text is from, for messages. One that ends with `.yaml` or `.yml` is read as YAML. Default `pack.json`. */
  readonly file?: string;
  /** One version of the schema; absent: what 1.4 or 1.5 takes. */
  readonly schema?: PackSchema;
  /** Names of validators that your program brings along. */
  readonly validators?: readonly string[];
}

/** A pack that was read. */
interface ReadPack {
  /** Absent when the problems contain an error. */
  readonly pack: Pack | undefined;
  /** Those of a text with their places, in their order; those of data without. */
  readonly problems: readonly Problem[];
}

/**
 * Reads and checks a pack: a text, JSON or YAML, or data.
 *
 * @throws SkeinError `SKEIN_USAGE` for data that is not JSON
 */
export function readPack(given: string | object, options: PackOptions = {}): ReadPack {
  const { file = 'pack.json', schema, validators = [] } = options;
  const isText = typeof given === 'string';
  const text = isText ? given : jsonOf(given);
  const read = isText && /\.ya?ml$/i.test(file) ? parseYaml(text, file) : parseJson(text, file);
  const findings = createFindings();
  findings.add(read.problems);
  if (read.root !== undefined) checkPack(read.root, { schema, validators: new Set(validators) }, findings);
  else if (read.problems.length === 0) findings.error('empty-file', 'the pack is empty', { file, line: 1, column: 1 });
  const sorted = sortProblems(findings.list);
  const pack = read.root === undefined || hasErrors(sorted) ? undefined : (toJson(read.root) as unknown as Pack);
  return { pack, problems: isText ? sorted : sorted.map(withoutPlace) };
}

function jsonOf(pack: object): string {
  try {
    return JSON.stringify(pack, undefined, 1);
  } catch (error) {
    throw new SkeinError('SKEIN_USAGE', 'the pack is not JSON', { cause: error });
  }
}

/** A place in a text that no one wrote tells nothing. */
function withoutPlace({ code, severity, message, hint }: Problem): Problem {
  return { code, severity, message, ...(hint === undefined ? {} : { hint }) };
}
