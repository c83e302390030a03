import { CheckpointLog } from './checkpoint-log.js';
import type { Keeper, KeeperOptions } from './keeper.js';

/** Keeps `checkpoints/`: a file for each supervised step that was accepted or ended. */
export function keepCheckpoints({ writer, redactor }: KeeperOptions): Keeper {
  const log = new CheckpointLog((name, checkpoint) => {
    writer.write(`checkpoints/${name}.json`, () => `${redactor.json(checkpoint, 2)}\n`);
  }, redactor.text);
  return { listen: log.listen };
}
