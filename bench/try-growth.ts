import * as plans from './growth-plans.js';
import { run } from '../src/index.js';
const only = process.argv[2];
const sizes = (process.argv[3] ?? '1000,4000,16000').split(',').map(Number);
const jobs: Record<string, (n: number) => any> = {
  ...plans as any,
  twoLoopsPlain: (n: number) => plans.twoLoops(n, false, undefined),
  twoLoopsRead: (n: number) => plans.twoLoops(n, true),
};
for (const [name, make] of Object.entries(jobs)) {
  if (only && only !== 'all' && !only.split(',').includes(name)) continue;
  const out: string[] = [];
  for (const n of sizes) {
    const t0 = performance.now();
    const plan = make(n);
    const first = await run(plan).result;
    if (first.outcome !== 'succeeded' && first.outcome !== 'degraded') throw new Error(name + JSON.stringify(first.error));
    const t1 = performance.now();
    const reps = 3; const ts: number[] = [];
    if (t1 - t0 < 5000) for (let i = 0; i < reps; i++) { globalThis.gc?.(); const s = process.cpuUsage(); await run(plan).result; const c = process.cpuUsage(s); ts.push((c.user + c.system) / 1000); }
    else ts.push(NaN);
    ts.sort((a, b) => a - b);
    out.push(`${n}: build+first ${((t1 - t0) * 1000 / n).toFixed(1)} run ${((ts[ts.length >> 1] ?? 0) * 1000 / n).toFixed(2)} us`);
    if (t1 - t0 > 10000) break;
  }
  console.log(name.padEnd(14), out.join(' | '));
}
