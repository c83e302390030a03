import { relative, resolve, sep } from 'node:path';
import { isPlainObject, type JsonObject } from '../../base/json.js';
import type { Workflow, WorkflowSettings } from '../../plan/workflow.js';
import { FORMATS, type KeptFlags } from './run-flags.js';

/** What is recorded with a run to start it again. Paths are relative to the folder of the store, so that the folder can be moved. */
export interface RunOrigin {
  readonly file: string;
  readonly cwd: string;
  readonly flags: KeptFlags;
  /** Settings of the workflow, for use if its file is gone. */
  readonly settings: WorkflowSettings;
}

interface Beginning {
  /** The folder that holds the store. */
  readonly root: string;
  readonly cwd: string;
  readonly file: string;
  readonly flags: KeptFlags;
  readonly workflow: Workflow;
}

type Fits = (value: unknown) => boolean;
const isText: Fits = (value) => typeof value === 'string';
const isOn: Fits = (value) => value === true;

/** The recorded flags, with checks for their values, which are read from a file. Never values of the environment, so no keys. */
const KEPT: { readonly [K in keyof KeptFlags]-?: Fits } = {
  model: isText,
  mock: isText,
  replay: isText,
  prices: isText,
  limits: isText,
  policy: isText,
  auditDir: isText,
  format: (value) => FORMATS.some((format) => format === value),
  concurrency: Number.isSafeInteger,
  maxSteps: Number.isSafeInteger,
  stream: isOn,
  strict: isOn,
  lenient: isOn,
  interactive: isOn,
  allowPrivateAddresses: isOn,
  exec: isOn,
  agent: isText,
  prompt: isText,
  tools: isText,
  config: isText,
  audit: (value) => typeof value === 'boolean',
};

/** Writes what {@link readOrigin} parses. */
export function writeOrigin({ root, cwd, file, flags, workflow }: Beginning): JsonObject {
  const path = workflow.files[0]?.path ?? resolve(cwd, file);
  const origin: RunOrigin = {
    file: below(root, path),
    cwd: below(root, cwd),
    flags: keptOf({ ...flags }),
    settings: workflow.settings,
  };
  return JSON.parse(JSON.stringify(origin)) as JsonObject;
}

/** Parses an origin from a record. Undefined for a run that the command line did not begin. Invalid parts are left out. */
export function readOrigin({ file, cwd, flags, settings }: JsonObject): RunOrigin | undefined {
  if (typeof file !== 'string' || typeof cwd !== 'string' || !isPlainObject(flags)) return undefined;
  return { file, cwd, flags: keptOf(flags), settings: readSettings(settings) };
}

function below(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

function keptOf(flags: Readonly<Record<string, unknown>>): KeptFlags {
  const kept = Object.entries(KEPT).filter(([name, fits]) => Object.hasOwn(flags, name) && fits(flags[name]));
  return { audit: true, ...Object.fromEntries(kept.map(([name]) => [name, flags[name]])) };
}

/** Skein wrote these settings, for a checked workflow. */
function readSettings(settings: unknown): WorkflowSettings {
  if (!isPlainObject(settings) || !isPlainObject(settings['output'])) return { output: { format: 'markdown' } };
  return settings as unknown as WorkflowSettings;
}
