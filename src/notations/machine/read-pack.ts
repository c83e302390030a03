import { checkOptions } from '../../base/options.js';
import { SkeinError } from '../../base/errors.js';
import { hasErrors, type Position, type Problem } from '../../base/problem.js';
import { createFindings, sortProblems } from '../../text/findings.js';
import { parseJson } from '../../text/json.js';
import { parseYaml } from '../../text/yaml.js';
import type { SourceFile } from '../../plan/workflow.js';
import { checkPack, placesIn } from './check-pack.js';
import type { PackSchema } from './dialect.js';
import { NO_FILES, readPackFiles, type PackFiles } from './pack-files.js';
import type { Pack, PlacedPack } from './pack.js';

/**
 * How a pack is checked.
 *
 * @example
 * const options = { file: 'support.pack.json', schema: '1.5' } satisfies PackOptions;
 */
export interface PackOptions {
  /** The name of the file for messages. A text is YAML if it ends with `.yaml` or `.yml`; without a name, if it does not begin with `{`. */
  readonly file?: string;
  /** One version of the schema. Undefined: 1.4 or 1.5. */
  readonly schema?: PackSchema;
  /** Names of validators that your program supplies. */
  readonly validators?: readonly string[];
}

interface ReadPack {
  /** Undefined if the problems contain an error. */
  readonly pack: Pack | undefined;
  /** Problems of a text have places and are sorted by them. Problems of data have none. */
  readonly problems: readonly Problem[];
}

interface WholePack extends ReadPack {
  readonly files: PackFiles;
  /** The files read beside the pack, by absolute path. */
  readonly sources: readonly SourceFile[];
}

/**
 * Reads and checks a pack with its skills and schemas, which are searched for only beneath its folder.
 *
 * @throws SkeinError `SKEIN_USAGE` for data that is not JSON
 */
export async function readWholePack(
  given: string | object,
  { folder, ...options }: PackOptions & { readonly folder?: string | undefined } = {},
): Promise<WholePack> {
  const { at, ...read } = readPlaced(given, options);
  if (read.pack === undefined) return { ...read, files: NO_FILES, sources: [] };
  const findings = createFindings();
  const sources: SourceFile[] = [];
  const files = await readPackFiles({ pack: read.pack, findings, at }, folder, (path, text) =>
    sources.push({ path, text }),
  );
  const found = typeof given === 'string' ? findings.list : findings.list.map(withoutPlace);
  const pack = hasErrors(found) ? undefined : read.pack;
  return { pack, problems: sortProblems([...read.problems, ...found]), files, sources };
}

/** @throws SkeinError `SKEIN_USAGE` for data that is not JSON */
export function readPack(given: string | object, options: PackOptions = {}): ReadPack {
  const { pack, problems } = readPlaced(given, options);
  return { pack, problems };
}

function readPlaced(given: string | object, options: PackOptions): ReadPack & Pick<PlacedPack, 'at'> {
  const isText = typeof given === 'string';
  const { file = isText && !IS_JSON.test(given) ? 'pack.yaml' : 'pack.json', schema, validators = [] } = options;
  if (isText && FILE_NAME.test(given)) return notTheText(given, { file, line: 1, column: 1 });
  const text = isText ? given : jsonOf(given);
  const read = isText && /\.ya?ml$/i.test(file) ? parseYaml(text, file) : parseJson(text, file);
  const { root } = read;
  const findings = createFindings();
  findings.add(read.problems);
  const rules = { schema, validators: new Set(validators) };
  const found = root === undefined ? undefined : checkPack(root, rules, findings);
  if (root === undefined && read.problems.length === 0)
    findings.error('empty-file', 'the pack is empty', { file, line: 1, column: 1 }, EMPTY_HINT);
  const sorted = sortProblems(findings.list);
  const pack = hasErrors(sorted) ? undefined : found;
  const at = root === undefined ? (): Position => ({ file, line: 1, column: 1 }) : placesIn(root);
  return { pack, problems: isText ? sorted : sorted.map(withoutPlace), at };
}

/** How a text begins that is JSON, or should be. */
const IS_JSON = /^\s*(?:[{[]|$)/;

/** What programs pass that mean the file; a map or a list of one line is YAML. */
const FILE_NAME = /^(?!\s*-\s|.*:\s)\s*[^\s{}:][^\n{}]*\.(?:json|ya?ml)\s*$/i;

function notTheText(name: string, at: Position): ReturnType<typeof readPlaced> {
  const message = `this is the name of a file, not the text of a pack: ${JSON.stringify(name.trim().slice(0, 200))}`;
  const hint = "give the text: await readFile(FILE, 'utf8'), or the data in it";
  return { pack: undefined, problems: [{ code: 'not-a-text', severity: 'error', message, hint }], at: () => at };
}

/** @throws SkeinError `SKEIN_USAGE` for what is neither text nor JSON */
function jsonOf(pack: unknown): string {
  if (typeof pack !== 'object' || pack === null)
    throw new SkeinError('SKEIN_USAGE', `a pack is a text or an object, not ${String(pack)}`, {
      hint: "give the text of its file, await readFile(FILE, 'utf8'), or the data in it",
    });
  try {
    return JSON.stringify(pack, undefined, 1);
  } catch (error) {
    throw new SkeinError('SKEIN_USAGE', 'the pack is not JSON', { cause: error });
  }
}

const EMPTY_HINT = 'a pack needs id, name, version, template_engine and prompts';

/** Removes the place of a problem in data: its text was generated, so the place is meaningless. */
function withoutPlace({ code, severity, message, hint }: Problem): Problem {
  return { code, severity, message, ...(hint === undefined ? {} : { hint }) };
}

/**
 * Checks a whole pack and returns all problems: of a text with places and sorted by them, of data without. Nothing runs or is written.
 *
 * @throws SkeinError `SKEIN_USAGE` for data that is not JSON
 * @example
 * for (const problem of validatePack(text, { file: 'support.pack.json' })) console.error(formatProblem(problem));
 */
export function validatePack(pack: string | object, options: PackOptions = {}): readonly Problem[] {
  checkOptions<PackOptions>('validatePack', options, { file: 'text', schema: 'text', validators: 'a list of texts' });
  return readPack(pack, options).problems;
}
