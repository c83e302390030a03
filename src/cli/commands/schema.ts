import { Argument, type Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { SCHEMA_NAMES, yamlSchema, type SchemaName } from '../../yaml.js';
import type { JsonFlag } from '../run/run-flags.js';
import { tableLines } from '../runs/text.js';
import { jsonText } from '../view/printable.js';
import { printResult } from '../view/streams.js';

/** `skein schema [NAME]`. */
export function define(command: Command): void {
  command
    .addArgument(new Argument('[name]', 'what the schema is for').choices(SCHEMA_NAMES).argParser(nameOf))
    .option('--json', 'without a name: print the list of schemas as one JSON document')
    .addHelpText('after', HELP)
    .action(async (name: SchemaName | undefined, { json = false }: JsonFlag) => {
      printResult(name === undefined ? await list(json) : jsonText(await yamlSchema(name)));
    });
}

/** Lists every schema with its purpose. */
async function list(json: boolean): Promise<string> {
  const schemas = await Promise.all(
    SCHEMA_NAMES.map(async (name) => ({ name, title: String((await yamlSchema(name))['title']) })),
  );
  return json ? jsonText({ schemas }) : tableLines(schemas.map(({ name, title }) => [name, title])).join('\n');
}

function nameOf(word: string): SchemaName {
  const name = SCHEMA_NAMES.find((one) => one === word);
  if (name !== undefined) return name;
  const hint = didYouMean(word, SCHEMA_NAMES) ?? `the schemas are: ${SCHEMA_NAMES.join(', ')}`;
  throw new SkeinError('SKEIN_USAGE', `there is no schema ${JSON.stringify(word)}`, { hint });
}

const HELP = `
Without a name it lists the schemas. An editor checks and completes a file that names the schema in its first line:
  skein schema dag > dag.json
  # yaml-language-server: $schema=dag.json`;
