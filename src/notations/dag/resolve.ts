import { present, type Json } from '../../base/json.js';
import { refText } from '../../lang/json-path.js';
import { quoteShort } from '../../lang/value-text.js';
import type { TemplateRef } from '../../lang/values.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import { isComposite } from '../../plan/input-types.js';
import { inputChannel } from '../inputs-key.js';
import { COUNT_SCHEMAS, inputSchema } from '../named-values.js';
import { ENDING_SCHEMA, ENDING_WORDS, endingInText, readEnding, RUN_SCHEMA } from '../step-ending.js';
import { beforeChannel, countChannel, endingChannel, itemChannel, stepChannel, type StepDef } from './definition.js';
import type { Called, References, Use } from './references.js';

/** Resolves a reference; undefined if it is not one. With a trailing `?`, the value may be missing, or be the previous round's. */
export function resolve(expression: string, use: Use, references: References): TemplateRef | undefined {
  const optional = expression.endsWith('?');
  const written = optional ? expression.slice(0, -1) : expression;
  const found = named(written.split('.'), optional, use, references);
  // Channels of inner steps, items and counters have names that no file holds.
  return found === undefined || refText(found) === written ? found : { ...found, written };
}

function named(
  [kind, name = '', field = '', ...path]: readonly string[],
  optional: boolean,
  use: Use,
  references: References,
): TemplateRef | undefined {
  if (kind === 'inputs' && name !== '' && (field === '' || isComposite(references.typeOf(name)))) {
    references.canUseInput(name, use.owner, use.at, optional);
    const parts = field === '' ? {} : { path: [field, ...path], ...(optional ? { optional } : {}) };
    return { channel: inputChannel(name), ...parts };
  }
  if (kind === 'steps') return outputRef([name, field, ...path], optional, use, references);
  if (kind === 'run' && references.graph.isAtEnd(use.step)) return runRef([name, field, ...path], use, references);
  const [inner] = references.graph.mapsAround(use.step);
  if (inner !== undefined && (kind === 'index' || kind === 'key') && name === '')
    return { channel: countChannel(inner.id, kind) };
  const map = references.graph.mapsAround(use.step).find((each) => each.map?.as === kind);
  return map === undefined
    ? undefined
    : itemRef(
        map,
        [name, field, ...path].filter((part) => part !== ''),
        optional,
        use,
      );
}

/** Resolves a reference to the run's ending: `outcome`, `error.message`, `error.code`. */
function runRef([name = '', ...path]: readonly string[], use: Use, references: References): TemplateRef | undefined {
  const rest = path.filter((part) => part !== '');
  const optional = { optional: true } as const;
  if (name === 'outcome' && rest.length === 0) return { channel: RUN_OUTCOME };
  if (name === 'error') return { channel: RUN_ERROR, ...(rest.length === 0 ? {} : { path: rest, ...optional }) };
  const message = `${use.owner} refers to run.${name}, which does not exist`;
  references.fault('unknown-member', message, use.at, 'write run.outcome, run.error.message or run.error.code');
  return { channel: RUN_OUTCOME };
}

/** Returns the reference to the item of a map around the step, or to a path in it. */
function itemRef(map: StepDef, path: readonly string[], optional: boolean, { truncate }: Use): TemplateRef {
  return {
    channel: itemChannel(map.id),
    ...present({ path: path.length === 0 ? undefined : path, truncate }),
    ...(optional && path.length > 0 ? { optional } : {}),
  };
}

/** The parts of a reference: ids of steps, ids inside a called file, and the rest. */
interface Way {
  readonly ids: readonly string[];
  readonly inside: readonly string[];
  readonly rest: readonly string[];
}

/** Follows a reference from a step into the loops and the called file it names. */
function walk(name: string, words: readonly string[], { graph, called }: References): Way {
  const ids = [name];
  let rest = words;
  for (; rest[0] === 'outputs' && graph.stepsIn(ids.at(-1) ?? '').includes(rest[1] ?? ''); rest = rest.slice(2))
    ids.push(rest[1] ?? '');
  if (!called.has(ids.at(-1) ?? '')) return { ids, inside: [], rest };
  const inside: string[] = [];
  for (; rest[0] === 'outputs'; rest = rest.slice(2)) inside.push(rest[1] ?? '');
  return { ids, inside, rest };
}

/** Resolves `ID.output.PATH`, preceded by the ids of enclosing loops, each followed by `outputs`. */
function outputRef(
  [name = '', ...words]: readonly string[],
  optional: boolean,
  use: Use,
  references: References,
): TemplateRef | undefined {
  const { graph } = references;
  const { ids, inside, rest } = walk(name, words, references);
  const [output, ...path] = rest;
  const id = ids.at(-1) ?? name;
  if (output !== 'output') return inside.length > 0 ? undefined : endingRef({ ids, rest }, optional, use, references);
  const called = references.called.get(id);
  if (called !== undefined) checkCalled(called, id, inside, use, references);
  const isBefore = optional && !graph.endsBefore(name, use.step) && graph.endedInRoundBefore(name, use.step);
  if (!isBefore) references.canRead(name, use.step, use.at, 'text', id);
  if (inside.length === 0) references.canHave(id, path, use.owner, use.at);
  const channel = stepChannel(...ids, ...inside);
  return {
    channel: isBefore ? beforeChannel(channel) : channel,
    ...present({ path: path.length === 0 ? undefined : path, truncate: use.truncate }),
    ...(optional && path.length > 0 ? { optional } : {}),
  };
}

/** Resolves a step's ending: `status`, `error`, for a map `errors`. Undefined for other references. Problem code: `unknown-member`. */
function endingRef(
  { ids, rest }: Pick<Way, 'ids' | 'rest'>,
  optional: boolean,
  use: Use,
  references: References,
): TemplateRef | undefined {
  const { graph } = references;
  const [name = ''] = ids;
  const step = graph.step(ids.at(-1) ?? '');
  if (step === undefined && ENDING_WORDS.includes(rest[0] ?? '')) references.canTell(name, use.step, use.at, 'text');
  if (step === undefined || step.end !== undefined) return undefined;
  const gives = graph.hasOutput(step.id) ? (['output'] as const) : [];
  const found = readEnding(rest, { channel: endingChannel(...ids), isMap: step.map !== undefined, gives });
  if (found === undefined) return undefined;
  if ('unknown' in found) {
    const message = `${use.owner} reads ${found.unknown} of ${step.label}, which does not have it`;
    references.fault('unknown-member', message, use.at, found.hint);
    return { channel: endingChannel(...ids), optional: true };
  }
  const isBefore = optional && !graph.endsBefore(name, use.step) && graph.endedInRoundBefore(name, use.step);
  if (!isBefore) references.canTell(name, use.step, use.at, 'text');
  references.told.add(step.id);
  const ref = endingInText(found.ref, rest.slice(found.used));
  return isBefore ? { ...ref, channel: beforeChannel(ref.channel) } : ref;
}

/** Checks that a called file has what is read of it: its result, or the output of one of its steps. */
function checkCalled(called: Called, id: string, inside: readonly string[], use: Use, references: References): void {
  const { owner, at } = use;
  const known = called.outputs.map(({ names }) => names.join('.outputs.'));
  if (inside.length === 0) {
    if (called.result !== undefined) return;
    const hint = `name one of its steps: steps.${id}.outputs.${known[0] ?? 'ID'}.output`;
    const message = `${owner} refers to the output of ${quoteShort(id)}, whose file does not have exactly one result`;
    references.fault('missing-output', message, at, hint);
  } else if (!known.includes(inside.join('.outputs.'))) {
    const message = `${owner} refers to the step ${quoteShort(inside.join('.'))} of ${quoteShort(id)}, which does not exist`;
    references.fault('unknown-step', message, at, `its steps are: ${known.join(', ')}`);
  }
}

/** The JSON Schema of a value, if known, and the path into it that a reference names. */
interface Known {
  readonly schema: Json | undefined;
  readonly path: readonly string[];
}

export function knownOf(expression: string, step: StepDef, references: References): Known {
  const [kind = '', name = '', ...words] = expression.replace(/\?$/, '').split('.');
  if (kind === 'inputs') return { schema: inputSchema(references.typeOf(name)), path: words };
  if (kind === 'run' && references.graph.isAtEnd(step)) return { schema: RUN_SCHEMA, path: [name, ...words] };
  if (kind !== 'steps') return { schema: name === '' ? COUNT_SCHEMAS[kind] : undefined, path: [] };
  const { ids, inside, rest } = walk(name, words, references);
  if (rest[0] !== 'output') return { schema: ENDING_SCHEMA, path: rest };
  return { schema: inside.length > 0 ? undefined : references.schemaOf(ids.at(-1) ?? name), path: rest.slice(1) };
}
