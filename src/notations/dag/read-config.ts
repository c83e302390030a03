import { AUDIT_FOLDER } from '../../base/own-names.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Truncate } from '../../lang/values.js';
import type { ProviderSpec } from '../../plan/agent-spec.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { Findings } from '../../text/findings.js';
import { present } from '../../base/json.js';
import type { Fields } from '../../text/shape.js';
import type { ConfigDef, MemoryDef, OutputDef } from './definition.js';
import { PROVIDER_NAMES } from '../../plan/providers.js';
import { CONFIG, MEMORY, OUTPUT, PROVIDER, TELEMETRY, TRUNCATE } from './keys.js';
import { readModels } from './read-agent.js';

/**
 * Reads the section `config` of a workflow file.
 *
 * @example
 * const config = readConfig(root, findings);
 */
export function readConfig(root: Fields, findings: Findings): ConfigDef {
  const fields = root.section('config', CONFIG);
  if (fields.fields('telemetry', TELEMETRY)?.has('otlp_endpoint') === true) {
    const hint = 'remove the key; nothing is sent';
    findings.warning('no-effect', 'telemetry of config has no effect', fields.placeOf('telemetry'), hint);
  }
  const concurrency = fields.integer('max_concurrency', CONFIG.keys.max_concurrency) ?? 0;
  return {
    models: readModels(fields, 'model of config', findings),
    auditDir: fields.given('audit_dir')?.text ?? AUDIT_FOLDER,
    auditRetention: fields.integer('audit_retention', CONFIG.keys.audit_retention) ?? 0,
    memory: readMemory(fields, findings),
    provider: readProvider(fields, findings),
    streaming: fields.flag('streaming'),
    logLevel: fields.word('log_level', CONFIG.keys.log_level) ?? 'info',
    searchPaths: fields.texts('agent_search_paths') ?? [],
    concurrency: concurrency > 0 ? concurrency : undefined,
    interactive: fields.flag('interactive'),
    truncate: readTruncate(fields),
  };
}

function readMemory(config: Fields, findings: Findings): MemoryDef | undefined {
  const fields = config.fields('shared_memory', MEMORY);
  if (fields === undefined) return undefined;
  const inject = fields.flag('inject_into_prompt') ?? false;
  const content = fields.given('initial_content')?.text;
  const file = fields.given('initial_file');
  if (fields.flag('enabled') !== true) {
    if (!fields.has('enabled')) {
      findings.warning('no-effect', 'shared_memory is not switched on', fields.at, 'add enabled: true');
    }
    return undefined;
  }
  if (content !== undefined && file !== undefined) {
    findings.warning(
      'no-effect',
      'initial_content has no effect when initial_file is set',
      fields.placeOf('initial_content'),
      'keep one of the two',
    );
  }
  return { inject, content, file };
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

function readProvider(config: Fields, findings: Findings): ProviderSpec | undefined {
  const fields = config.fields('provider', PROVIDER);
  if (fields === undefined) return undefined;
  const type = fields.given('type')?.text.toLowerCase();
  if (type === undefined)
    findings.error('provider', 'provider of config needs a type', fields.at, `one of: ${PROVIDER_NAMES.join(', ')}`);
  else if (!PROVIDER_NAMES.includes(type)) {
    const hint = findings.near(type, PROVIDER_NAMES) ?? `one of: ${PROVIDER_NAMES.join(', ')}`;
    findings.error('unknown-value', `type of provider is ${quoteShort(type)}`, fields.placeOf('type'), hint);
  }
  const baseUrl = fields.given('base_url')?.text;
  if (baseUrl !== undefined && !/^https?:\/\//i.test(baseUrl)) {
    findings.error(
      'provider',
      'base_url of provider must begin with http:// or https://',
      fields.placeOf('base_url'),
      'such as https://api.example.com/v1',
    );
  }
  const apiKeyEnv = fields.given('api_key_env')?.text;
  if (apiKeyEnv !== undefined && !VARIABLE.test(apiKeyEnv)) {
    // The text may be the key itself, so it is not shown.
    const hint = 'write the name, such as OPENAI_API_KEY, and put the key into the environment';
    findings.error(
      'provider',
      'api_key_env must be the name of an environment variable',
      fields.placeOf('api_key_env'),
      hint,
    );
  }
  return type === undefined ? undefined : present({ type, baseUrl, apiKeyEnv });
}

function readTruncate(owner: Fields): Truncate | undefined {
  const fields = owner.fields('truncate', TRUNCATE);
  const strategy = fields?.word('strategy', TRUNCATE.keys.strategy) ?? 'chars';
  const limit = fields?.integer('limit', TRUNCATE.keys.limit);
  const keep = fields?.word('keep', TRUNCATE.keys.keep);
  // Without a limit nothing is cut.
  if (limit === undefined || limit === 0) return undefined;
  return present({ strategy, limit, keep });
}

const FORMATS: ReadonlyMap<string, OutputFormat> = new Map([
  ['markdown', 'markdown'],
  ['plain', 'plain'],
  ['text', 'plain'],
  ['json', 'json'],
]);

/**
 * Reads the section `output` of a workflow file. An unknown format is a warning and gives Markdown.
 *
 * @example
 * const output = readOutput(root, findings);
 */
export function readOutput(root: Fields, findings: Findings): OutputDef {
  const fields = root.section('output', OUTPUT);
  const written = fields.given('format')?.text;
  const format = written === undefined ? 'markdown' : FORMATS.get(written.toLowerCase());
  if (format === undefined && written !== undefined) {
    const hint = findings.near(written, FORMATS.keys()) ?? `one of: ${[...FORMATS.keys()].join(', ')}`;
    const message = `format of output is ${quoteShort(written)}; markdown is used`;
    findings.warning('unknown-value', message, fields.placeOf('format'), hint);
  }
  return { steps: fields.texts('steps'), format: format ?? 'markdown', truncate: readTruncate(fields) };
}
