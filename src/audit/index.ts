export { openRunFolder } from './run-folder.js';
export type { RunEnd, RunFolder, RunFolderOptions } from './run-folder.js';
export { formatOutput } from './final-output.js';
export type { OutputOptions, StepEnd } from './final-output.js';
export { createRedactor } from './redact.js';
export type { RedactedStream, Redactor } from './redact.js';
export { findSecrets } from './secrets.js';
export type { SecretSources } from './secrets.js';
