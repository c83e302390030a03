import { relative, resolve, sep } from 'node:path';
import type { JsonObject } from '../../base/json.js';
import type { OutputFormat, Workflow, WorkflowSettings } from '../../plan/workflow.js';
import type { KeptFlags } from './run-flags.js';

/** What is kept with a run to start such a run again. Paths are relative to the folder that holds the store, so that it can be moved. */
export interface RunOrigin {
  readonly file: string;
  readonly cwd: string;
  readonly flags: KeptFlags;
  /** Settings of the workflow, for when its file is gone. */
  readonly settings: WorkflowSettings;
}

/** What a run begins with. */
interface Beginning {
  /** The folder that holds the store. */
  readonly root: string;
  readonly cwd: string;
  readonly file: string;
  readonly flags: KeptFlags;
  readonly workflow: Workflow;
}

/** Never values of the environment, and so no keys: only what was typed. */
export function writeOrigin({ root, cwd, file, flags, workflow }: Beginning): JsonObject {
  const { model, mock, replay, format, stream, concurrency, maxSteps, strict } = flags;
  const { lenient, interactive, auditDir, audit, allowPrivateAddresses, exec } = flags;
  const kept: KeptFlags = {
    audit,
    ...defined({ model, mock, replay, format, stream, concurrency, maxSteps, strict }),
    ...defined({ lenient, interactive, auditDir, allowPrivateAddresses, exec }),
  };
  const path = workflow.files[0]?.path ?? resolve(cwd, file);
  const origin: RunOrigin = {
    file: below(root, path),
    cwd: below(root, cwd),
    flags: kept,
    settings: workflow.settings,
  };
  return JSON.parse(JSON.stringify(origin)) as JsonObject;
}

/**
 * Reads what {@link writeOrigin} made; undefined for a run that was begun by something else. It comes from a file: what is not as it
 * should be is left out.
 */
export function readOrigin(origin: JsonObject): RunOrigin | undefined {
  const { file, cwd, flags, settings } = origin;
  if (typeof file !== 'string' || typeof cwd !== 'string' || !isObject(flags)) return undefined;
  return {
    file,
    cwd,
    flags: { audit: flags['audit'] !== false, ...textFlags(flags), ...switches(flags) },
    settings: readSettings(settings),
  };
}

function below(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textFlags(flags: JsonObject): Partial<KeptFlags> {
  const text = (name: string): string | undefined => {
    const value = flags[name];
    return typeof value === 'string' ? value : undefined;
  };
  const count = (name: string): number | undefined => {
    const value = flags[name];
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  };
  return defined({
    model: text('model'),
    mock: text('mock'),
    replay: text('replay'),
    auditDir: text('auditDir'),
    format: FORMATS.find((name) => name === flags['format']),
    concurrency: count('concurrency'),
    maxSteps: count('maxSteps'),
  });
}

const FORMATS: readonly OutputFormat[] = ['markdown', 'plain', 'json'];

function switches(flags: JsonObject): Partial<KeptFlags> {
  const on = (name: string): true | undefined => (flags[name] === true ? true : undefined);
  return defined({
    stream: on('stream'),
    strict: on('strict'),
    lenient: on('lenient'),
    interactive: on('interactive'),
    allowPrivateAddresses: on('allowPrivateAddresses'),
    exec: on('exec'),
  });
}

/** Written by us, of a workflow that had been checked. */
function readSettings(settings: unknown): WorkflowSettings {
  if (!isObject(settings) || !isObject(settings['output'])) return { output: { format: 'markdown' } };
  return settings as unknown as WorkflowSettings;
}
