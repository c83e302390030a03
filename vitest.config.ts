import { defineConfig } from 'vitest/config';

const PURE = ['base', 'lang', 'machine', 'notations', 'plan'].map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  // `skein` and `skein/...` mean src/ in tests and examples, by the same `paths` that the compiler reads.
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      // What these rooms do depends on what it is given alone: their files share what they import, which takes a third of the processor time away.
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'own',
          include: ['test/**/*.test.ts'],
          exclude: PURE,
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'] },
        },
      },
    ],
    passWithNoTests: false,
    testTimeout: 90_000,
    // Quicker than processes to start; a test that needs a process of its own (signals, cwd) spawns one.
    pool: 'threads',
    maxWorkers: '100%',
    reporters: ['dot'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
