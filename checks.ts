import { spawn } from 'node:child_process';

/**
 * What is said of the sources without running them, and what is built of them for the tests; each is a script of package.json. The linter knows all types, so it
 * tells what the compiler would: that alone takes twice as long as all of the linter. What is published, the build compiles.
 */
const CHECKS = ['format:check', 'lint:types', 'build', 'imports', 'dead'];

/** Two at a time keep two cores busy; the longest begins first. What a check says is shown as a whole when it has ended. */
const waiting = [...CHECKS];
await Promise.all([next(), next()]);

async function next(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await passes(name))) process.exitCode = 1;
  }
}

function passes(name: string): Promise<boolean> {
  return new Promise((done, fail) => {
    const child = spawn('npm', ['run', '--silent', name], { shell: process.platform === 'win32' });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => said.push(part));
    child.on('error', fail);
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      if (code !== 0) process.stderr.write(`npm run ${name} failed\n`);
      done(code === 0);
    });
  });
}
