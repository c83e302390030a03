import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A program as JavaScript, in a folder: a loader that compiles at each start would take most of the time of these tests. */
export function compileProgram(folder: string, name: 'writer' | 'crowd-worker' | 'flip-worker'): string {
  const sources = ['base', 'events', 'journal', 'lang', 'plan', 'stores'].flatMap((part) =>
    filesOf(join(ROOT, 'src', part)),
  );
  const program = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  for (const source of [...sources, program]) {
    const target = join(folder, source.slice(ROOT.length)).replace(/\.ts$/, '.js');
    mkdirSync(dirname(target), { recursive: true });
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
    writeFileSync(target, ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions }).outputText);
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, `test/stores/support/${name}.js`);
}

function filesOf(folder: string): readonly string[] {
  return ts.sys.readDirectory(folder, ['.ts']);
}

/** A writer that runs, and what it has said. */
export interface Writer {
  readonly child: ChildProcess;
  readonly said: readonly string[];
  /** Settles when it has said a line; rejects when it ends without. */
  heard(line: string): Promise<void>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts a program whose lines are read as they come. Those that are to be stopped are stopped by their test. */
export function startWriter(argv: readonly string[]): Writer {
  const [program = '', ...rest] = argv;
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  const waiting = new Set<() => void>();
  let open = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (open + text).split('\n');
    open = lines.pop() ?? '';
    said.push(...lines);
    for (const look of waiting) look();
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  return {
    child,
    said,
    ended,
    heard: (line) =>
      new Promise((resolveHeard, reject) => {
        const look = (): void => {
          if (said.includes(line)) resolveHeard();
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without saying ${line}, but ${said.join(', ')}`)));
      }),
  };
}

/** Why system calls can't be made to fail here; undefined when they can. */
export function whyNoStrace(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux';
  const probe = spawnSync('strace', ['-f', '-e', 'inject=fsync:error=EIO:when=1', '-o', '/dev/null', 'true']);
  return probe.status === 0 ? undefined : 'strace is not installed, or may not trace';
}

/** A command under which certain system calls on a store's files go wrong. */
export function injecting(fault: string, file: string, argv: readonly string[]): readonly string[] {
  const paths = ['', '-wal', '-journal'].flatMap((end) => ['-P', `${file}${end}`]);
  return ['strace', '-f', '-qq', '-o', '/dev/null', ...paths, '-e', `inject=${fault}`, ...argv];
}
