import { SCRIPT } from './text/script-keys.js';
import { AGENT_FILE, NAMED_IN_AGENTS } from './notations/dag/agent-keys.js';
import { WORKFLOW } from './notations/dag/keys.js';
import { FILE, NAMED } from './notations/pipeline/keys.js';
import { schemaOf } from './text/form-schema.js';
import type { SchemaData } from './text/form-schema.js';
import type { Form } from './text/forms.js';

/** A kind of YAML file: its form, and how the form is read. */
interface FileKind {
  readonly title: string;
  readonly form: Form;
  /** Forms that stand in several places, by name. */
  readonly named?: Readonly<Record<string, Form>>;
  /** A key without a value is an error. */
  readonly exact?: true;
}

const KINDS = {
  dag: { title: 'Skein workflow (DAG notation)', form: WORKFLOW, named: NAMED_IN_AGENTS },
  pipeline: { title: 'Skein workflow (pipeline notation)', form: FILE, named: NAMED },
  agent: { title: 'Head of a Skein agent file', form: AGENT_FILE, named: NAMED_IN_AGENTS },
  script: { title: 'Skein script', form: SCRIPT, exact: true },
} satisfies Readonly<Record<string, FileKind>>;

/** What a JSON Schema is there for: workflows of both notations, the heads of agent files, scripts. */
export type SchemaName = keyof typeof KINDS;

/** The names of all JSON Schemas. */
export const SCHEMA_NAMES: readonly SchemaName[] = Object.keys(KINDS) as SchemaName[];

/**
 * The JSON Schema (draft 7) of a kind of YAML file, for editors and other tools. It is made of the tables by which files are read: what it finds wrong,
 * loading finds wrong, too. References and cycles are beyond it.
 *
 * @example
 * import { yamlSchema } from 'skein/yaml';
 *
 * console.log(JSON.stringify(yamlSchema('dag'), null, 2));
 */
export function yamlSchema(name: SchemaName): SchemaData {
  const { title, form, named = {}, exact }: FileKind = KINDS[name];
  return schemaOf(form, { title, about: form.about ?? title, named, lenient: exact !== true });
}
