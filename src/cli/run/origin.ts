import { relative, resolve, sep } from 'node:path';
import type { JsonObject } from '../../base/json.js';
import { isPlainObject } from '../../base/json.js';
import type { Workflow, WorkflowSettings } from '../../plan/workflow.js';
import type { KeptFlags } from './run-flags.js';
import { FORMATS } from './run-flags.js';

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

type Fits = (value: unknown) => boolean;
const isText: Fits = (value) => typeof value === 'string';
const isOn: Fits = (value) => value === true;

/** The flags that are kept: never values of the environment, and so no keys. What their values must be: they are read from a file. */
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

/** What {@link readOrigin} reads. */
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

/** Undefined for a run that was begun by something else. It comes from a file: what is not as it should be is left out. */
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

/** Written by us, of a workflow that had been checked. */
function readSettings(settings: unknown): WorkflowSettings {
  if (!isPlainObject(settings) || !isPlainObject(settings['output'])) return { output: { format: 'markdown' } };
  return settings as unknown as WorkflowSettings;
}
