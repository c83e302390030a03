#!/usr/bin/env node
import module from 'node:module';
import { endProcess, watchStreams } from './view/streams.js';
import { versionNumber } from './own-package.js';

/** The part of Node's API that exists from 22.1 on. */
interface NewerModule {
  readonly enableCompileCache?: () => unknown;
}

(module as NewerModule).enableCompileCache?.();
watchStreams();
// Node ends a process once nothing is pending: work that has not ended by then has failed.
process.on('beforeExit', () => {
  process.exitCode = 1;
});
void begin(process.argv.slice(2));

/** Awaits are inside functions: a top-level await in any module would keep the bundler from joining files. */
async function begin(words: readonly string[]): Promise<never> {
  const asksVersion = words.length === 1 && ['--version', '-V', '-v'].includes(words[0] ?? '');
  if (asksVersion) {
    process.stdout.write(`${versionNumber()}\n`);
    return await endProcess(0);
  }
  const { runCli } = await import('./program.js');
  return await endProcess(await runCli(words));
}
