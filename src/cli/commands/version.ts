import type { Command } from 'commander';
import { printResult } from '../view/streams.js';
import { versionNumber } from '../version-number.js';

/** `skein version`. */
export function define(command: Command, done: (code: number) => void): void {
  command.action(() => {
    printResult(versionNumber());
    done(0);
  });
}
