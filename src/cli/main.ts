#!/usr/bin/env node
import module from 'node:module';
import { endProcess, watchStreams } from './view/streams.js';
import { versionNumber } from './own-package.js';

/** What Node has from 22.1 on. */
interface NewerModule {
  readonly enableCompileCache?: () => unknown;
}

(module as NewerModule).enableCompileCache?.();
watchStreams();
// Node ends a process in which nothing is left that could go on: what has not come to its end by then has failed.
process.on('beforeExit', () => {
  process.exitCode = 1;
});
void begin(process.argv.slice(2));

/** Awaits stand in functions: one at the top of any module keeps the bundler from joining files. */
async function begin(words: readonly string[]): Promise<never> {
  const asksVersion = words.length === 1 && ['--version', '-V', '-v'].includes(words[0] ?? '');
  if (asksVersion) {
    process.stdout.write(`${versionNumber()}\n`);
    return await endProcess(0);
  }
  const { runCli } = await import('./program.js');
  return await endProcess(await runCli(words));
}
