import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import type { Command } from 'commander';
import { parseJson } from '../../base/json.js';
import { messageOf } from '../../base/thrown.js';

/** An input as written on the command line. */
export interface GivenInput {
  readonly name: string;
  readonly value: string;
  /** True if the value is the name of a file, or `-` for stdin. */
  readonly isFile: boolean;
  /** True if the value is JSON: a number, a list, an object. */
  readonly isJson?: true;
}

/** Maximum size of an input in bytes: no model reads more. */
const LARGEST_INPUT = 8 * 1024 * 1024;

/**
 * Parses `NAME=VALUE`. Only the first `=` counts.
 *
 * @throws SkeinError `SKEIN_USAGE` if the name or the `=` is missing.
 * @example
 * readAssignment('text=a=b', false); // { name: 'text', value: 'a=b', isFile: false }
 */
function readAssignment(text: string, isFile: boolean, flag = isFile ? '--input-file' : '--input'): GivenInput {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new SkeinError(
      'SKEIN_USAGE',
      `${flag} takes NAME=${isFile ? 'FILE' : 'VALUE'}, not ${JSON.stringify(text)}`,
      {
        hint: `write ${flag} topic=${isFile ? 'topic.txt' : 'looms'}`,
      },
    );
  }
  return { name: text.slice(0, at), value: text.slice(at + 1), isFile };
}

/**
 * Returns the values of inputs by name, and reads files. The last value of a name wins.
 *
 * @throws SkeinError `SKEIN_INPUT` that names every unusable file.
 */
export async function readInputs(
  given: readonly GivenInput[],
  cwd: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (given.filter((input) => input.isFile && input.value === '-').length > 1) {
    throw new SkeinError('SKEIN_USAGE', 'stdin can be only one input', { hint: 'keep one --input-file NAME=-' });
  }
  const last = new Map(given.map((input) => [input.name, input]));
  const wrong: string[] = [];
  const values = new Map<string, unknown>();
  for (const { name, value, isFile, isJson } of last.values()) {
    const read = isFile ? await readOne(value, cwd) : { text: value };
    if ('why' in read) wrong.push(`input '${name}': ${read.why}`);
    else if (isJson === true) values.set(name, parsed(name, value));
    else if (Buffer.byteLength(read.text) > LARGEST_INPUT) wrong.push(`input '${name}' is ${TOO_LARGE}`);
    else values.set(name, read.text);
  }
  if (wrong.length === 0) return Object.fromEntries(values);
  throw new SkeinError('SKEIN_INPUT', wrong.join('; '), {
    hint: 'an input is a text file in UTF-8, of 8 MiB at most; give an agent the path and a tool to read larger ones',
  });
}

function parsed(name: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    const why = messageOf(cause);
    throw new SkeinError('SKEIN_INPUT', `input '${name}' is not JSON: ${why}`, {
      hint: `--input ${name}=TEXT takes text as it is`,
      cause,
    });
  }
}

/**
 * Waits for a run. If a schema refuses a text of the command line, the error says how to give something else.
 *
 * @throws SkeinError what the run is refused with
 */
export async function withTexts<T>(given: readonly GivenInput[], run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_INPUT') throw error;
    const text = given.find(
      ({ name, isJson }) =>
        isJson !== true && error.message.includes(`the value for '${name}' does not match its schema`),
    );
    if (text === undefined) throw error;
    const hint = `this was a text; a number, a list or an object: --input-json ${text.name}=JSON`;
    throw new SkeinError(error.code, error.message, { hint, cause: error });
  }
}

const TOO_LARGE = `larger than ${LARGEST_INPUT / 1024 / 1024} MiB`;

async function readOne(file: string, cwd: string): Promise<{ readonly text: string } | { readonly why: string }> {
  try {
    const bytes = file === '-' ? await readStdin() : await readLimited(resolve(cwd, file));
    if (bytes === undefined) return { why: `${file} is ${TOO_LARGE}` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { why: `${file} is not UTF-8 text` };
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { why: `${file} can't be read (${code})` };
  }
}

async function readLimited(path: string): Promise<Buffer | undefined> {
  const { size } = await stat(path);
  return size > LARGEST_INPUT ? undefined : await readFile(path);
}

async function readStdin(): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > LARGEST_INPUT) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Adds flags that set values by name, such as `--input`. `flag` has another name if it sets more than inputs. Returns the list that
 * receives the values, in the order of the command line.
 */
export function addValueOptions(
  command: Command,
  flag: string,
  about: string,
  what = 'an input',
): readonly GivenInput[] {
  const inputs: GivenInput[] = [];
  const take = (read: (text: string) => GivenInput) => (text: string) => {
    inputs.push(read(text));
    return inputs;
  };
  const [long = flag] = /--[a-z]+$/.exec(flag) ?? [];
  command
    .option(
      `${flag} <name=value>`,
      about,
      take((text) => readAssignment(text, false, long)),
    )
    .option(
      '--input-file <name=file>',
      `${what} from a file, - for stdin`,
      take((text) => readAssignment(text, true)),
    )
    .option(
      '--input-json <name=json>',
      `${what} that is JSON: a number, a list, an object`,
      take((text) => ({ ...readAssignment(text, false, '--input-json'), isJson: true })),
    );
  return inputs;
}

export function addInputOptions(command: Command, what: string): readonly GivenInput[] {
  const about = `${what} of the workflow; repeat for each (also --inputs)`;
  return addValueOptions(command.optionsGroup('Inputs:'), '-i, --input', about, what);
}
