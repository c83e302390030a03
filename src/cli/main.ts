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
const words = process.argv.slice(2);
const asksVersion = words.length === 1 && ['--version', '-V', '-v'].includes(words[0] ?? '');
if (asksVersion) {
  process.stdout.write(`${versionNumber()}\n`);
  await endProcess(0);
} else {
  const { runCli } = await import('./program.js');
  await endProcess(await runCli(words));
}
