/** True under `npm run test:fault`: every write, all bits, long lists. The run before each commit takes samples of them. */
export const THOROUGH = Number(process.env['SKEIN_KILLS'] ?? 0) >= 1_000;
