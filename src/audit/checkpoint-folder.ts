import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Listener } from '../events/event.js';
import { CheckpointLog } from './checkpoint-log.js';
import { FileWriter } from './file-writer.js';
import { createRedactor } from '../secrets/redact.js';
import { safeName } from './safe-name.js';

export interface CheckpointFolder {
  readonly listener: Listener;
  /** Waits for the files. Resolves to descriptions of failed writes. */
  close(): Promise<readonly string[]>;
}

/**
 * Writes a file for each accepted or ended supervised step, to a folder named by the run's id. No run reads it or fails because of it.
 *
 * @param secrets values that are never written
 */
export async function openCheckpointFolder(folder: string, secrets: readonly string[]): Promise<CheckpointFolder> {
  const root = resolve(folder);
  const redactor = createRedactor(secrets);
  const made = await mkdir(root, { recursive: true, mode: 0o700 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  let writer: FileWriter | undefined;
  let run = '';
  const log = new CheckpointLog((name, checkpoint) => {
    writer?.write(`${run}/${name}.json`, () => `${redactor.json(checkpoint, 2)}\n`);
  }, redactor.text);
  return {
    listener(event) {
      if (writer === undefined) {
        run = safeName(event.runId, 'run', 80);
        writer = new FileWriter(root, existsSync(join(root, run)) ? [run] : []);
        if (made !== undefined) writer.failed(folder, made);
      }
      log.listen(event);
    },
    async close() {
      await writer?.idle();
      return writer?.problems ?? [];
    },
  };
}
