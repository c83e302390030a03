import type { Form } from '../text/forms.js';
import type { SchemaData } from '../text/form-schema.js';
import type { LoadNotation } from './loading.js';
import type { OpenedFile } from './opened-file.js';
import { looksLikeAgentfile, looksLikePack, looksLikePipeline } from './looks-like.js';

interface FileKind {
  readonly title: string;
  readonly form: () => Promise<{ readonly form: Form; readonly named?: Readonly<Record<string, Form>> }>;
  /** True if a key without a value is an error. */
  readonly exact?: true;
  /** True if numbers and booleans are not accepted as texts. */
  readonly typed?: true;
}

/** A notation of workflow files. Its code loads only when a file needs it. A notation that is not YAML or JSON has no schema. */
interface Notation extends Partial<FileKind> {
  /** Whether a file is most likely in this notation. Undefined for the fallback notation. */
  readonly looksLike?: (opened: OpenedFile) => boolean;
  readonly code: () => Promise<{ readonly load: LoadNotation }>;
}

/** All notations of workflow files, by their name in plans (`plan.notation`). */
export const NOTATIONS = {
  agentfile: {
    looksLike: looksLikeAgentfile,
    code: () => import('./agentfile/load.js'),
  },
  dag: {
    title: 'Skein workflow (DAG notation)',
    form: async () => {
      const { WORKFLOW, NAMED } = await import('./dag/keys.js');
      return { form: WORKFLOW, named: NAMED };
    },
    code: () => import('./dag/load.js'),
  },
  machine: {
    title: 'PromptPack',
    form: async () => (await import('./machine/pack-form.js')).packForm(),
    exact: true,
    typed: true,
    looksLike: looksLikePack,
    code: () => import('./machine/load.js'),
  },
  pipeline: {
    title: 'Skein workflow (pipeline notation)',
    form: async () => {
      const { FILE, NAMED } = await import('./pipeline/keys.js');
      return { form: FILE, named: NAMED };
    },
    looksLike: looksLikePipeline,
    code: () => import('./pipeline/load.js'),
  },
} satisfies Readonly<Record<string, Notation>>;

export type NotationId = keyof typeof NOTATIONS;

const OTHER_FILES = {
  agent: {
    title: 'Head of a Skein agent file',
    form: async () => {
      const { AGENT_FILE, NAMED_IN_AGENTS } = await import('./dag/agent-keys.js');
      return { form: AGENT_FILE, named: NAMED_IN_AGENTS };
    },
  },
  'agent-toml': {
    title: 'Configuration of Agentfiles (agent.toml)',
    form: async () => ({ form: (await import('./agentfile/agent-toml.js')).AGENT_TOML }),
    exact: true,
    typed: true,
  },
  script: {
    title: 'Skein script',
    form: async () => ({ form: (await import('../text/script-keys.js')).SCRIPT }),
    exact: true,
  },
} satisfies Readonly<Record<string, FileKind>>;

/** Returns the notation a file is most likely written in. */
export function notationOf(opened: OpenedFile): NotationId {
  const all = Object.entries<Notation>(NOTATIONS) as [NotationId, Notation][];
  return all.find(([, { looksLike }]) => looksLike?.(opened) === true)?.[0] ?? 'dag';
}

const { agentfile: _text, ...WITH_SCHEMAS } = NOTATIONS;
const KINDS = { ...WITH_SCHEMAS, ...OTHER_FILES };

/** The name of a JSON Schema: for a notation of workflow files in YAML, heads of agent files, scripts, or `agent.toml`. */
export type SchemaName = keyof typeof KINDS;

/** The names of all JSON Schemas. */
export const SCHEMA_NAMES: readonly SchemaName[] = Object.keys(KINDS) as SchemaName[];

/**
 * Returns the JSON Schema (draft 7) of a kind of file, for editors and other tools. It is built from the tables that files are read by, so
 * loading also reports whatever the schema rejects. The schema does not check references and cycles.
 *
 * @example
 * import { yamlSchema } from 'skein/yaml';
 *
 * console.log(JSON.stringify(await yamlSchema('dag'), null, 2));
 */
export async function yamlSchema(name: SchemaName): Promise<SchemaData> {
  const kind: FileKind = KINDS[name];
  const [{ schemaOf }, { form, named = {} }] = await Promise.all([import('../text/form-schema.js'), kind.form()]);
  return schemaOf(form, {
    title: kind.title,
    about: form.about ?? kind.title,
    named,
    lenient: kind.exact !== true,
    typed: kind.typed === true,
  });
}
