import { readFile } from 'node:fs/promises';
import { yamlSchema, type SchemaName } from '../../yaml.js';
import { ownPackage, packageRoot } from '../own-package.js';
import { jsonText } from '../view/printable.js';

/** A starter project: a folder of `templates/`, in whose files `PROJECT` is replaced by the name. */
interface Template {
  readonly command: 'run' | 'exec';
  /** Paths in the folder. The first one is the workflow. */
  readonly files: readonly string[];
  /** The schemas that its files name. They are copied, because a project without the package has no other path to them. */
  readonly schemas: readonly SchemaName[];
}

const DAG: Template = {
  command: 'run',
  files: ['workflow.yaml', 'agents/writer.agent.md', 'script.yaml'],
  schemas: ['dag', 'script'],
};

const TEMPLATES = {
  chain: DAG,
  'fan-out': DAG,
  question: DAG,
  pipeline: { command: 'exec', files: ['workflow.yaml', 'script.yaml'], schemas: ['pipeline', 'script'] },
  typescript: { command: 'run', files: ['flow.ts', 'script.yaml', 'package.json', 'tsconfig.json'], schemas: [] },
} satisfies Readonly<Record<string, Template>>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[];

/** Returns the files of a template by path inside the new folder, the workflow first, and the command that runs them. */
export async function newProject(
  template: TemplateName,
  name: string,
): Promise<{ readonly files: ReadonlyMap<string, string>; readonly command: string }> {
  const { command, files, schemas }: Template = TEMPLATES[template];
  const all = new Map<string, string>();
  for (const path of files) {
    const text = await readFile(new URL(`templates/${template}/${path}`, packageRoot()), 'utf8');
    all.set(path, path === 'package.json' ? manifest(text, name) : text.replaceAll('PROJECT', name));
  }
  for (const schema of schemas) all.set(`schema/${schema}.json`, `${jsonText(await yamlSchema(schema))}\n`);
  return { files: all, command };
}

/** The new project depends on the running package. */
function manifest(text: string, name: string): string {
  const dependencies = { skein: ownPackage().dependency };
  return `${JSON.stringify({ ...(JSON.parse(text) as object), name: name.toLowerCase(), dependencies }, null, 2)}\n`;
}
