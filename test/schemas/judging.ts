import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { SkeinError } from '../../src/base/errors.js';
import { isPlainObject } from '../../src/base/json.js';
import type { Json } from '../../src/base/json.js';
import type { Problem } from '../../src/base/problem.js';
import { readScript } from '../../src/agent/script/read-script.js';
import { schemaFindings } from '../../src/lang/schema-check.js';
import { readAgentFile } from '../../src/notations/dag/agent-file.js';
import { validatePack } from '../../src/machine.js';
import { createFindings } from '../../src/text/findings.js';
import { parseFrontMatter } from '../../src/text/front-matter.js';
import { toJson } from '../../src/text/nodes.js';
import { parseJson } from '../../src/text/json.js';
import { parseYaml } from '../../src/text/yaml.js';
import { SCHEMA_NAMES, loadDagText, loadPipelineText, yamlSchema } from '../../src/yaml.js';
import type { SchemaName } from '../../src/yaml.js';
import { completePipeline, completeWorkflow, docSnippets } from '../examples/support/snippets.js';

export const ROOT = resolve(import.meta.dirname, '../..');
export const CORPUS = resolve(ROOT, '../shared/corpus');

/** Codes of problems about the form of a file: keys, types, words, bounds. All others are about what names refer to, and beyond a schema. */
const CODES_OF_FORM: ReadonlySet<string> = new Set([
  'wrong-type',
  'unknown-key',
  'unknown-value',
  'out-of-range',
  'missing-name',
  'missing-step',
  'missing-id',
  'missing-agent',
  'missing-prompt',
  'missing-type',
  'missing-mode',
  'no-scope',
  'missing-condition',
  'missing-target',
  'missing-over',
  'missing-until',
  'bad-line',
  'missing-question',
  'missing-wait',
  'missing-file',
  'missing-answer',
  'bad-require',
  'missing-values',
  'missing-instruction',
  'missing-model',
  'missing-tool',
  'missing-command',
  'not-a-list',
  'two-bodies',
  'no-steps',
  'empty-block',
  'mixed-condition',
  'bad-agent',
  'bad-budget',
  'bad-duration',
  'unbounded-loop',
  'bad-name',
  'forbidden-name',
  'bad-retry',
  'bad-path',
  'bad-schema',
  'provider',
  'mcp-server',
  'unknown-toolset',
  'unknown-check',
  'unknown-tool',
  'not-supported',
  'not-a-dag',
  'not-a-pipeline',
  'script-answers',
  'script-error-code',
  'wrong-form',
  'missing-key',
]);

/** What has such a code and is beyond a schema all the same. */
const BEYOND: readonly RegExp[] = [
  / calls ".*", (?:and there is|which does not)/, // a tool of a server
  / names no program$/, // what a list begins with
  /^require of .* at most$/, // the length of a list
  /^the schema requires /, // a name of another list
  /^provider ".*" has a token_key and no base_url/, // two keys together
  /^"docker:/, // what a name begins with
  / jumps to "/, // a place in a list
  / refers to index /, // the length of a list
  /: a composition has no prompt /, // what a state is
  /: predicate of step /, // two keys together
  / has "real" and names no step$/, // two keys together
  /^over of step ".*" names /, // what a reference leads to
];

/** A file of a kind that has a schema. */
export interface Sample {
  readonly file: string;
  readonly name: SchemaName;
  readonly text: string;
}

const schemas = new Map(await Promise.all(SCHEMA_NAMES.map(async (name) => [name, await yamlSchema(name)] as const)));
const others = new Map(
  [...schemas].map(([name, schema]) => [
    name,
    new Validator(schema as ConstructorParameters<typeof Validator>[0], '7'),
  ]),
);

/** What the schema finds, by our evaluator; it must be of one mind with another one. */
export function schemaSays(name: SchemaName, value: unknown): readonly string[] {
  const found = schemaFindings(schemas.get(name), value);
  const other = others.get(name)?.validate(value);
  if (other === undefined || other.valid !== (found.length === 0))
    throw new Error(`two evaluators differ: ${JSON.stringify([found, other?.errors.slice(-3)])}`);
  return found;
}

/** Errors of the validator about the form. A step with the id of another one is not read any further, so that is one where `found` says that there is more. */
export async function validatorSays(sample: Sample, found: readonly string[]): Promise<readonly string[]> {
  const problems = await problemsOf(sample);
  const unread = problems.filter(({ code }) => found.length > 0 && code === 'duplicate-step');
  return problems
    .filter(({ severity, code, message }) => {
      const isBeyond = found.length === 0 && BEYOND.some((beyond) => beyond.test(message));
      return severity === 'error' && CODES_OF_FORM.has(code) && !isBeyond;
    })
    .concat(unread)
    .map(({ code, message }) => `${code}: ${message}`);
}

async function problemsOf({ name, text, file }: Sample): Promise<readonly Problem[]> {
  if (name === 'script') return scriptProblems(text, file);
  if (name === 'agent') {
    const findings = createFindings();
    readAgentFile(text, file, findings);
    return findings.list;
  }
  if (name === 'machine') return validatePack(text, { file });
  const load = name === 'dag' ? loadDagText : loadPipelineText;
  const { problems } = await load(text, { cwd: ROOT, file });
  return problems.filter(({ at }) => at?.file === file);
}

function scriptProblems(text: string, file: string): readonly Problem[] {
  try {
    readScript(text, file);
    return [];
  } catch (error) {
    if (error instanceof SkeinError && isPlainObject(error.details))
      return error.details['problems'] as unknown as readonly Problem[];
    throw error;
  }
}

/** The data of a sample; undefined for a text that is no YAML. */
export function dataOf({ name, text, file }: Sample): Json | undefined {
  const parse = file.endsWith('.json') ? parseJson : parseYaml;
  const { root, problems } = name === 'agent' ? headOf(text, file) : parse(text, file);
  if (root === undefined || problems.some(({ severity }) => severity === 'error')) return undefined;
  return toJson(root);
}

function headOf(text: string, file: string): Pick<ReturnType<typeof parseYaml>, 'root' | 'problems'> {
  const { data, problems } = parseFrontMatter(text, file);
  return { root: data, problems };
}

/** Undefined: the file is of no kind that has a schema. */
function kindOf(file: string, text: string): SchemaName | undefined {
  if (file.endsWith('.md'))
    return text.startsWith('---') && /agents?[/\\]|\.agent\.md$/.test(file) ? 'agent' : undefined;
  if (/\.pack\.(?:json|ya?ml)$/.test(file)) return 'machine';
  const { root } = parseYaml(text, file);
  if (root?.kind !== 'map') return undefined;
  const keys = root.entries.map(({ key }) => key);
  if (/script[^/\\]*\.ya?ml$/.test(file) || (keys.includes('rules') && !keys.includes('steps'))) return 'script';
  if (keys.includes('workflow') || keys.includes('agents')) return keys.includes('steps') ? 'dag' : 'pipeline';
  return keys.includes('steps') ? 'dag' : undefined;
}

/** The files of a folder that have a schema. */
export function samplesIn(folder: string): readonly Sample[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(?:ya?ml|md|pack\.json)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(resolve(folder, file), 'utf8');
      const name = kindOf(file, text);
      return name === undefined ? [] : [{ file, name, text }];
    });
}

/** The YAML of the documentation, each snippet completed to a file. */
export async function samplesInDocs(): Promise<readonly Sample[]> {
  const snippets = (await docSnippets()).filter(({ language }) => language === 'yaml');
  return snippets.map(({ place, text }) => {
    if (/^rules:/m.test(text)) return { file: place, name: 'script', text };
    const isPipeline = place.startsWith('docs/pipeline.md:') || /^workflow:/m.test(text);
    return isPipeline
      ? { file: place, name: 'pipeline', text: completePipeline(text) }
      : { file: place, name: 'dag', text: completeWorkflow(text) };
  });
}
