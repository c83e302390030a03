import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MAIN, cleanEnv } from './skein.js';

/** Runs a suggested command as a person does who pastes it: a shell reads the line. Rejects unless its exit code is 0. */
export async function pasted(command: string, cwd: string): Promise<string> {
  const script = `skein() { "$NODE" "$MAIN" "$@"; }\n${command}\n`;
  const env = { ...cleanEnv(cwd), NODE: process.execPath, MAIN };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], { cwd, env });
  return stdout + stderr;
}
