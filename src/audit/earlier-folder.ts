import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, readMarker } from './marker.js';
import { isRunFolderName, runFolderEnd } from './safe-name.js';

/** The folder of an earlier session of a run, moved aside. */
export interface EarlierFolder {
  /** Name of the folder that this session continues with. */
  readonly name: string;
  /** Moves the folder back, if the run is refused after all. */
  putBack(): Promise<void>;
  /** Removes the folder: this session writes all its content again. */
  remove(): Promise<void>;
}

/**
 * Finds the folder that earlier sessions of a run wrote, and moves it aside. Undefined if there is none. The folder of a session that still
 * runs is left alone: this session will be refused.
 */
export async function takeEarlier(dir: string, runId: string, now: number): Promise<EarlierFolder | undefined> {
  const end = runFolderEnd(runId);
  const names = (await readdir(dir)).filter((name) => isRunFolderName(name) && name.includes(`_${end}`)).toSorted();
  for (const name of names.toReversed()) {
    const marker = await readMarker(join(dir, name));
    if (marker?.run_id !== runId || isRunning(marker, now)) continue;
    const path = join(dir, name);
    const aside = join(dir, `.${name}.before`);
    await rm(aside, { recursive: true, force: true });
    await rename(path, aside);
    return {
      name,
      async putBack() {
        await rm(path, { recursive: true, force: true });
        await rename(aside, path);
      },
      remove: () => rm(aside, { recursive: true, force: true }),
    };
  }
  return undefined;
}
