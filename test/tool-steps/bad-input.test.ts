import { describe, expect, it } from 'vitest';
import { runSteps } from './support/both.js';

/** Runs one command of a pipeline, with a prompt that arguments may refer to. */
const one = (keys: string, prompt = 'x') => runSteps('pipeline', `  - {id: a, ${keys}}\n`, { inputs: { prompt } });

const js = (code: string): string => `[node, -e, ${JSON.stringify(code)}]`;

describe('[bad input] a command', () => {
  it('that does not exist fails by its name, also with result: all', async () => {
    for (const result of ['text', 'all']) {
      const { outcome, error } = await one(`run: [no-such-program, x], result: ${result}`);
      expect(outcome).toBe('failed');
      expect(error).toMatchObject({ code: 'SKEIN_TOOL_FAILED', message: 'there is no program "no-such-program"' });
    }
  });

  it('that hangs ends with the time of its step, with all that it started', async () => {
    const code = `const c = require('node:child_process').spawn('sleep', ['300']); console.log(c.pid); setInterval(() => {}, 1000)`;
    const { outcome, error } = await one(`run: ${js(code)}, timeout: 300ms`);
    expect(outcome).toBe('failed');
    expect(error?.code).toBe('SKEIN_TIMEOUT');
  });

  it(
    'that floods is kept to the beginning and the end of what it writes, with a warning',
    { timeout: 120_000 },
    async () => {
      const code = `const b = Buffer.alloc(1 << 20, 'x'); let n = 0; const go = () => { while (n++ < 1024) if (!process.stdout.write(b)) return process.stdout.once('drain', go); process.stdout.end('the end'); }; process.stdout.write('begin'); go();`;
      const { outcome, output, events } = await one(`run: ${js(code)}`);
      const text = String(output('a'));
      expect(outcome).toBe('succeeded');
      expect(text.length).toBeLessThan(1_100_000);
      expect([text.slice(0, 5), text.slice(-7)]).toEqual(['begin', 'the end']);
      expect(text).toMatch(/\[\.\.\. \d+ bytes left out \.\.\.\]/);
      const warned = events.some(
        (event) => event.type === 'step.note' && event.note.kind === 'warning' && event.note.code === 'output-cut',
      );
      expect(warned).toBe(true);
    },
  );

  it('that forks without an end is stopped, and the step fails', { timeout: 120_000 }, async () => {
    const code = `const { spawn } = require('node:child_process'); for (let i = 0; i < 1500; i++) spawn('sleep', ['60']); setInterval(() => {}, 1000)`;
    const { outcome, error } = await one(`run: ${js(code)}, timeout: 60s`);
    expect(outcome).toBe('failed');
    expect(['SKEIN_TOOL_FAILED', 'SKEIN_EXIT', 'SKEIN_TIMEOUT']).toContain(error?.code);
    expect(error?.message).toMatch(/processes at once|took longer|exit code/);
  });

  it('that a signal ends fails as such; with result: all its exit code is that of shells', async () => {
    const kill = js(`process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)`);
    const { error } = await one(`run: ${kill}`);
    expect(error).toMatchObject({
      code: 'SKEIN_EXIT',
      message: 'node was ended by SIGKILL',
      details: { signal: 'SIGKILL' },
    });
    const { output } = await one(`run: ${kill}, result: all`);
    expect(output('a')).toEqual({ exit_code: 137, stdout: '', stderr: '' });
  });

  it('that reads standard input which is not there finds its end at once', async () => {
    const { output } = await one('run: [cat]');
    expect(output('a')).toBe('');
  });

  it('that does not read its input is not at fault', async () => {
    const { outcome } = await one('run: ["true"], stdin: "{{ $prompt }}"', 'x'.repeat(2_000_000));
    expect(outcome).toBe('succeeded');
  });

  it('that prints broken UTF-8 gives replacement characters', async () => {
    const { output } = await one(`run: ${js('process.stdout.write(Buffer.from([0x61, 0xff, 0xfe, 0x62]))')}`);
    expect(output('a')).toBe('a\ufffd\ufffdb');
  });
});

describe('[bad input] a value as an argument', () => {
  const echo = js('process.stdout.write(JSON.stringify(process.argv.slice(1)))').replace(/\]$/, ', "{{ $prompt }}"]');

  it('with line breaks, quotes and what a shell would expand arrives as it is', async () => {
    const odd = `a\nb\t"c" 'd' $HOME \`id\` $(id) \\ {{ $prompt }} ; && | > *`;
    const { output } = await one(`run: ${echo}`, odd);
    expect(JSON.parse(String(output('a')))).toEqual([odd]);
  });

  it('with a NUL is refused before anything runs', async () => {
    const { error } = await one(`run: ${echo}`, 'a\0b');
    expect(error).toMatchObject({
      code: 'SKEIN_TOOL_REFUSED',
      message: 'an argument must not contain a NUL character',
    });
  });

  it('of 1 MB is refused with the way that takes it, which is standard input', async () => {
    const long = 'x'.repeat(1_048_576);
    const { error } = await one(`run: ${echo}`, long);
    expect(error).toMatchObject({ code: 'SKEIN_TOOL_FAILED', message: 'an argument is longer than 128 KiB' });
    expect(error?.hint).toContain('standard input');
    const { output } = await one('run: [wc, -c], stdin: "{{ $prompt }}"', long);
    expect(Number(output('a'))).toBe(1_048_576);
  });

  it('is the same in a variable: neither expanded nor cut, and refused with a NUL', async () => {
    const show = `run: ${js('process.stdout.write(process.env.V)')}, env: { V: "{{ $prompt }}" }`;
    expect((await one(show, '${PATH} $PATH "x"\n')).output('a')).toBe('${PATH} $PATH "x"');
    expect((await one(show, 'a\0b')).error?.code).toBe('SKEIN_TOOL_REFUSED');
    expect((await one(show, 'x'.repeat(200_000))).error?.message).toContain('the variable V is longer than 128 KiB');
  });

  it('that names a variable of the environment which is not set fails by its name', async () => {
    const { error } = await one('run: [ls], env: { TOKEN: "${NOT_SET_ANYWHERE}" }');
    expect(error).toMatchObject({
      code: 'SKEIN_NO_VARIABLE',
      message: 'env TOKEN: the environment variable NOT_SET_ANYWHERE is not set',
    });
  });
});
