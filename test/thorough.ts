/** True under `npm run test:fault`: every write, all bits, long lists. The run before each commit takes samples of them. */
export const THOROUGH = Number(process.env['SKEIN_KILLS'] ?? 0) >= 1_000;

/** True under `npm run test:security`: each hostile case in each way. The run before each commit takes a share of the combinations. */
export const EACH_WAY = process.env['SKEIN_RUNS'] !== undefined;

/** How many cases a property test tries: so many, twice as many under `npm run test:fault`, or as `SKEIN_RUNS` says. */
export function cases(usual: number): number {
  return Number(process.env['SKEIN_RUNS'] ?? (THOROUGH ? 2 * usual : usual));
}

/** The seed of a property test: so, or as `SKEIN_SEED` says. */
export function seedOf(usual: number): number {
  return Number(process.env['SKEIN_SEED'] ?? usual);
}
