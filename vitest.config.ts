import { defineConfig } from 'vitest/config';

export default defineConfig({
  // `skein` and `skein/...` mean src/ in tests and examples, by the same `paths` that the compiler reads.
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/**/*.test.ts'],
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'] },
    passWithNoTests: false,
    testTimeout: 90_000,
    // Quicker than processes to start; a test that needs a process of its own (signals, cwd) spawns one.
    pool: 'threads',
    maxWorkers: '100%',
    reporters: ['dot'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
