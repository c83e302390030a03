import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Listener } from '../events/event.js';
import { CheckpointLog } from './checkpoint-log.js';
import { FileWriter } from './file-writer.js';
import { createRedactor } from '../secrets/redact.js';
import { safeName } from './safe-name.js';

/** Keeps the checkpoints of a run. */
export interface CheckpointFolder {
  readonly listener: Listener;
  /** Waits for the files; gives what could not be written. */
  close(): Promise<readonly string[]>;
}

/**
 * Keeps a file for each supervised step of a run that was accepted or ended, in a folder with the id of the run. No run reads it, and none fails because of it.
 *
 * @param secrets what is never written
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
