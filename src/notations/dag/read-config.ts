import { AUDIT_FOLDER } from '../../base/own-names.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Truncate } from '../../lang/values.js';
import type { ProviderSpec } from '../../plan/agent-spec.js';
import type { OutputFormat } from '../../plan/workflow.js';
import { present } from '../../base/json.js';
import type { Fields } from '../../text/shape.js';
import type { ConfigDef, MemoryDef, OutputDef } from './definition.js';
import { PROVIDER_NAMES } from '../../plan/providers.js';
import { CONFIG, MEMORY, OUTPUT, PROVIDER, TELEMETRY, TRUNCATE } from './keys.js';
import { checkVariable } from '../../text/names.js';
import { readValues } from '../values-key.js';
import { readModels } from './read-agent.js';

export function readConfig(root: Fields): ConfigDef {
  const fields = root.section('config', CONFIG);
  if (fields.fields('telemetry', TELEMETRY)?.has('otlp_endpoint') === true) {
    fields.warning('no-effect', 'telemetry', 'telemetry of config has no effect', 'remove the key; nothing is sent');
  }
  const {
    audit_retention,
    interactive,
    log_level,
    max_concurrency: concurrency = 0,
    streaming,
  } = fields.values(CONFIG);
  return {
    models: readModels(fields, 'model of config'),
    auditDir: fields.given('audit_dir')?.text ?? AUDIT_FOLDER,
    auditRetention: audit_retention ?? 0,
    memory: readMemory(fields),
    provider: readProvider(fields),
    streaming,
    logLevel: log_level ?? 'info',
    searchPaths: fields.texts('agent_search_paths') ?? [],
    concurrency: concurrency > 0 ? concurrency : undefined,
    interactive,
    truncate: readTruncate(fields),
  };
}

function readMemory(config: Fields): MemoryDef | undefined {
  const fields = config.fields('shared_memory', MEMORY);
  if (fields === undefined) return undefined;
  const inject = fields.flag('inject_into_prompt') ?? false;
  const content = fields.given('initial_content')?.text;
  const file = fields.given('initial_file');
  if (fields.flag('enabled') !== true) {
    if (!fields.has('enabled'))
      fields.findings.warning('no-effect', 'shared_memory is not switched on', fields.at, 'add enabled: true');
    return undefined;
  }
  if (content !== undefined && file !== undefined) {
    const message = 'initial_content has no effect when initial_file is set';
    fields.warning('no-effect', 'initial_content', message, 'keep one of the two');
  }
  return { inject, content, file };
}

function readProvider(config: Fields): ProviderSpec | undefined {
  const fields = config.fields('provider', PROVIDER);
  if (fields === undefined) return undefined;
  const type = fields.given('type')?.text.toLowerCase();
  const known = `one of: ${PROVIDER_NAMES.join(', ')}`;
  if (type === undefined) fields.findings.error('provider', 'provider of config needs a type', fields.at, known);
  else if (!PROVIDER_NAMES.includes(type)) {
    const hint = fields.findings.near(type, PROVIDER_NAMES) ?? known;
    fields.error('unknown-value', 'type', `type of provider is ${quoteShort(type)}`, hint);
  }
  const baseUrl = fields.given('base_url')?.text;
  if (baseUrl !== undefined && !/^https?:\/\//i.test(baseUrl)) {
    const message = 'base_url of provider must begin with http:// or https://';
    fields.error('provider', 'base_url', message, 'such as https://api.example.com/v1');
  }
  const apiKeyEnv = fields.given('api_key_env')?.text;
  checkVariable(fields, 'api_key_env', apiKeyEnv, 'api_key_env');
  return type === undefined ? undefined : present({ type, baseUrl, apiKeyEnv });
}

function readTruncate(owner: Fields): Truncate | undefined {
  const fields = owner.fields('truncate', TRUNCATE);
  const { strategy = 'chars', limit, keep } = fields?.values(TRUNCATE) ?? {};
  // Without a limit, nothing is truncated.
  if (limit === undefined || limit === 0) return undefined;
  return present({ strategy, limit, keep });
}

const FORMATS: ReadonlyMap<string, OutputFormat> = new Map([
  ['markdown', 'markdown'],
  ['plain', 'plain'],
  ['text', 'plain'],
  ['json', 'json'],
]);

/** Reads the section `output` of a workflow file. An unknown format is a warning; Markdown is used. */
export function readOutput(root: Fields): OutputDef {
  const fields = root.section('output', OUTPUT);
  const written = fields.given('format')?.text;
  const format = written === undefined ? 'markdown' : FORMATS.get(written.toLowerCase());
  if (format === undefined && written !== undefined) {
    const hint = fields.findings.near(written, FORMATS.keys()) ?? `one of: ${[...FORMATS.keys()].join(', ')}`;
    fields.warning('unknown-value', 'format', `format of output is ${quoteShort(written)}; markdown is used`, hint);
  }
  const values = readValues(fields);
  const useless = (['steps', 'format', 'truncate'] as const).find((key) => fields.has(key));
  if (values !== undefined && useless !== undefined) {
    const message = `${useless} of output has no effect when values is set`;
    fields.warning('no-effect', useless, message, 'values are printed as JSON; remove one of the two');
  }
  return { steps: fields.texts('steps'), format: format ?? 'markdown', truncate: readTruncate(fields), values };
}
