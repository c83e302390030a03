import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/compiled-sources.js';
import { V8_FLAGS } from './test/v8-flags.js';

/** Files that replace a module, which must not be loaded yet when they begin, and those that count what nobody else may do: pauses, values that are kept. */
const OWN = [
  'test/agent/kept-models.test.ts',
  'test/audit/many-steps.test.ts',
  'test/growth/state.test.ts',
  'test/tools/line-matcher.test.ts',
];

/** Coverage is counted in the files of src/ themselves. */
const isMeasured = process.argv.includes('--coverage');

export default defineConfig({
  // `skein` and `skein/...` mean src/ in tests and examples, by the same `paths` that the compiler reads.
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      // Files share what they import: to load it again for each would take a fifth of the processor time of all tests.
      {
        extends: true,
        plugins: isMeasured ? [] : [compiledSources()],
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: OWN, isolate: false },
      },
      { extends: true, test: { name: 'own', include: OWN } },
    ],
    passWithNoTests: false,
    // For what hangs, not for what is slow: other work may share the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // To start a program takes the longer the more memory its process has, and stops all of its threads: workers are processes, not threads of one.
    pool: 'forks',
    execArgv: [...V8_FLAGS, '--enable-source-maps'],
    // One more than there are cores: tests of timeouts, leases and terminals wait.
    maxWorkers: availableParallelism() + 1,
    reporters: ['dot'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
