import type { Json } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { parseTemplate } from '../../lang/template.js';
import { quoteShort } from '../../lang/value-text.js';
import { splitExpressions } from '../../lang/computed-text.js';
import type { Computed, Template, TemplateRef, Truncate, ValueRef } from '../../lang/values.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import { present } from '../../base/json.js';
import type { CalledOutput } from '../results.js';
import { pathFault } from '../schema-paths.js';
import { ENDING_WORDS, endingInText, readEnding } from '../step-ending.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import { append, spending, splitOnce } from '../written-references.js';
import { inputChannel } from '../inputs-key.js';
import { isComposite } from '../../plan/input-types.js';
import type { InputDef } from '../inputs-key.js';
import { beforeChannel, countChannel, endingChannel, itemChannel, stepChannel } from './definition.js';
import type { StepDef } from './definition.js';
import { nearestStep } from './step-graph.js';
import type { StepGraph } from './step-graph.js';

/** What a called file gives. */
export interface Called {
  /** Channel of its result; undefined when it has none, or several. */
  readonly result: string | undefined;
  readonly outputs: readonly CalledOutput[];
}

/** What references may point at, and which of it was used. */
export interface References {
  readonly graph: StepGraph;
  readonly inputs: ReadonlySet<string>;
  readonly usedInputs: Set<string>;
  /** What called files give, by the id of the step that calls them. */
  readonly called: ReadonlyMap<string, Called>;
  /** Steps of which somebody reads how they ended, found so far. */
  readonly told: Set<string>;
  /** Those of them that have a channel for it. */
  readonly tells: ReadonlySet<string>;
  /** Parses a text with references, as one step sees it. `owner` is who is named when an input is unknown, `step "a"` by default. */
  template(
    scalar: SourceScalar,
    step: StepDef,
    options?: { truncate?: Truncate | undefined; owner?: string },
  ): Template;
  /** The value that a text names, without braces. */
  value(scalar: SourceScalar, step: StepDef): ValueRef | undefined;
  /** Counts references; false, and a problem, when the plan would get too large. */
  spend(count: number, at: Position): boolean;
  /** Checks that a step may read another step's output. */
  canRead(id: string, step: StepDef, at: Position): void;
  /** Checks that another step has ended for certain. */
  canTell(id: string, step: StepDef, at: Position): void;
  /** Checks that the output of a step can have something at a path (`no-such-path`). */
  canHave(id: string, path: readonly string[], owner: string, at: Position): void;
  /** Reports what is wrong with a reference. */
  fault(code: string, message: string, at: Position, hint: string): void;
  /** The value of an input is a list or an object, so that references may lead into it. */
  hasParts(input: string): boolean;
  /** Checks that an input exists, and remembers that it is used. */
  canUseInput(name: string, owner: string, at: Position, optional?: boolean): void;
}

/** What references are resolved in. */
interface ReferenceSource extends Pick<References, 'called' | 'tells'> {
  readonly yaml: ParsedYaml;
  readonly inputs: readonly InputDef[];
  readonly given: readonly string[];
  /** Of outputs, by the id of their step. */
  readonly schemas: ReadonlyMap<string, Json>;
  /** Reads an expression in a text. */
  readonly computed: (text: string, use: Omit<Use, 'truncate'>, references: References) => Computed | undefined;
}

/**
 * Resolves `{{inputs.NAME}}`, `{{steps.ID.output}}`, `{{steps.LOOP.outputs.ID.output}}` and `{{steps.ID.output.PATH}}`, each also with a `?` behind it. A name between braces that is
 * none of these stays as it is, and a warning says so (`not-a-reference`); one of a step or an input is an error (`bad-reference`).
 *
 * `{{= EXPRESSION }}` is worked out.
 *
 * Problem codes: `unknown-input`, `unknown-step`, `not-upstream`, `no-such-path`, `bad-reference`, `not-a-reference`, `too-many-references`.
 */
export function createReferences(source: ReferenceSource, graph: StepGraph, findings: Findings): References {
  const inputs = new Set([...source.inputs.map((input) => input.name), ...source.given]);
  const usedInputs = new Set<string>();
  const parsed = splitOnce(source.yaml, splitText);
  const references: References = {
    graph,
    inputs,
    usedInputs,
    called: source.called,
    tells: source.tells,
    told: new Set(),
    template: (scalar, step, { truncate, owner = step.label } = {}) => {
      const pieces: (string | TemplateRef | Computed)[] = [];
      for (const piece of parsed(scalar)) {
        if (typeof piece === 'string') {
          append(pieces, piece);
          continue;
        }
        if (!references.spend(1, piece.at)) break;
        const use = { step, owner, at: piece.at, truncate };
        append(pieces, filled(piece, use, { source, references, findings }) ?? piece.written);
      }
      return pieces;
    },
    value: (scalar, step) => {
      const use = { step, owner: step.label, at: scalar.at, truncate: undefined };
      return reference(scalar.text.trim(), use, references);
    },
    spend: spending(findings, 'inline agents, and expressions over all steps, count once for each step that uses them'),
    canRead: (id, step, at) => {
      if (checkOutput(id, { step, at }, references)) checkStep(id, { step, at }, references, findings);
    },
    canTell: (id, step, at) => checkStep(id, { step, at }, references, findings),
    fault: (code, message, at, hint) => findings.error(code, message, at, hint),
    canHave: (id, path, owner, at) => {
      const fault = pathFault(source.schemas.get(id), path, findings);
      if (fault === undefined) return;
      const message = `${owner} looks into the output of step ${quoteShort(id)}: ${fault.message}`;
      findings.error('no-such-path', message, at, fault.hint);
    },
    hasParts: (name) => source.inputs.some((input) => input.name === name && isComposite(input.type)),
    canUseInput: (name, owner, at, optional = false) => {
      if (!inputs.has(name)) reportInput(name, owner, at, { inputs, findings });
      // One that may be missing need not be given.
      else if (!optional || !source.inputs.some((input) => input.name === name)) usedInputs.add(name);
    },
  };
  return references;
}

function reportInput(
  name: string,
  owner: string,
  at: Position,
  { inputs, findings }: { readonly inputs: ReadonlySet<string>; readonly findings: Findings },
): void {
  const hint = findings.near(name, inputs) ?? `declare it under inputs: ${name}: {description: ...}`;
  findings.error('unknown-input', `${owner} uses the input ${quoteShort(name)}, which is not declared`, at, hint);
}

/** A reference, or an expression; one that is empty has no end. */
interface Reading {
  readonly expression: string;
  readonly computed?: string;
  readonly written: string;
}

/** References and expressions between double braces, as they were written. */
function splitText(text: string): readonly (string | Reading)[] {
  return splitExpressions(text).flatMap((part): readonly (string | Reading)[] => {
    if (typeof part !== 'string') return [{ expression: '', computed: part.expression ?? '', written: part.written }];
    return parseTemplate(part, true).map((piece) => {
      if (typeof piece === 'string') return piece;
      const { expression, offset } = piece;
      return { expression, written: part.slice(offset, part.indexOf('}}', offset) + 2) };
    });
  });
}

/** What stands in the place of a reference or an expression; undefined: the text stays. */
function filled(
  { computed, expression, written }: Reading,
  use: Use,
  { source, references, findings }: { source: ReferenceSource; references: References; findings: Findings },
): TemplateRef | Computed | undefined {
  if (computed === undefined) return resolve(expression, use, references, findings);
  if (computed === '') {
    const message = `${use.owner}: ${quoteShort(written)} has no end, or nothing in it`;
    const hint = 'end it with }}; a backslash before the braces says that they are text';
    findings.error('bad-expression', message, use.at, hint);
    return undefined;
  }
  const found = source.computed(computed, use, references);
  return found && { ...found, ...present({ truncate: use.truncate }) };
}

interface Use {
  readonly step: StepDef;
  readonly owner: string;
  readonly at: Position;
  readonly truncate: Truncate | undefined;
}

/** Undefined: no reference, the text stays. */
function resolve(expression: string, use: Use, references: References, findings: Findings): TemplateRef | undefined {
  const found = reference(expression, use, references);
  if (found === undefined) reportNoReference(expression, use, references, findings);
  return found;
}

/** A value, in the words of the file; undefined when it is none. With a `?` behind it, it may be missing, or that of the round before. */
function reference(expression: string, use: Use, references: References): TemplateRef | undefined {
  const optional = expression.endsWith('?');
  const [kind, name = '', field = '', ...path] = (optional ? expression.slice(0, -1) : expression).split('.');
  if (kind === 'inputs' && name !== '' && (field === '' || references.hasParts(name))) {
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

/** How the run ended: `outcome`, `error.message`, `error.code`. */
function runRef([name = '', ...path]: readonly string[], use: Use, references: References): TemplateRef | undefined {
  const rest = path.filter((part) => part !== '');
  const optional = { optional: true } as const;
  if (name === 'outcome' && rest.length === 0) return { channel: RUN_OUTCOME };
  if (name === 'error') return { channel: RUN_ERROR, ...(rest.length === 0 ? {} : { path: rest, ...optional }) };
  const message = `${use.owner} refers to run.${name}, which does not exist`;
  references.fault('unknown-member', message, use.at, 'write run.outcome, run.error.message or run.error.code');
  return { channel: RUN_OUTCOME };
}

/** The item of a map around the step, or what stands at a path in it. */
function itemRef(map: StepDef, path: readonly string[], optional: boolean, { truncate }: Use): TemplateRef {
  return {
    channel: itemChannel(map.id),
    ...present({ path: path.length === 0 ? undefined : path, truncate }),
    ...(optional && path.length > 0 ? { optional } : {}),
  };
}

/** The way of a reference: the ids of steps, those in a called file, and what is left. */
interface Way {
  readonly ids: readonly string[];
  readonly inside: readonly string[];
  readonly rest: readonly string[];
}

/** Follows a reference from a step into the loops and the called file that it names. */
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

/** `ID.output.PATH`, with the ids of loops around it, and `outputs` between them, in front. */
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
  if (!isBefore) references.canRead(name, use.step, use.at);
  if (inside.length === 0) references.canHave(id, path, use.owner, use.at);
  const channel = stepChannel(...ids, ...inside);
  return {
    channel: isBefore ? beforeChannel(channel) : channel,
    ...present({ path: path.length === 0 ? undefined : path, truncate: use.truncate }),
    ...(optional && path.length > 0 ? { optional } : {}),
  };
}

/** How a step ended: `status`, `error`, and of a map `errors`; undefined when it is about something else. Problem code: `unknown-member`. */
function endingRef(
  { ids, rest }: Pick<Way, 'ids' | 'rest'>,
  optional: boolean,
  use: Use,
  references: References,
): TemplateRef | undefined {
  const { graph } = references;
  const [name = ''] = ids;
  const step = graph.step(ids.at(-1) ?? '');
  if (step === undefined && ENDING_WORDS.includes(rest[0] ?? '')) references.canTell(name, use.step, use.at);
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
  if (!isBefore) references.canTell(name, use.step, use.at);
  references.told.add(step.id);
  const ref = endingInText(found.ref, rest.slice(found.used));
  return isBefore ? { ...ref, channel: beforeChannel(ref.channel) } : ref;
}

/** Whether a called file gives what is read of it: its result, or the output of one of its steps. */
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

/** What is written like a reference and is none: what it leaves out is said when it names a step or an input. */
function reportNoReference(expression: string, use: Use, references: References, findings: Findings): void {
  const { inputs } = references;
  const ids = references.graph.idsAround(use.step);
  const written = quoteShort(`{{${expression}}}`);
  const [root = '', ...rest] = expression.replace(/\?$/, '').split('.');
  const behind = rest[0] === 'output' ? rest.slice(1) : rest;
  const meant = ids.has(root)
    ? ['steps', root, 'output', ...behind]
    : inputs.has(root) && rest.length === 0
      ? ['inputs', root]
      : undefined;
  if (meant !== undefined) {
    const hint = `did you mean {{${meant.join('.')}}}? A backslash before the braces writes them as text`;
    findings.error('bad-reference', `${use.owner}: ${written} names no value`, use.at, hint);
    return;
  }
  const forms = 'references are {{inputs.NAME}} and {{steps.ID.output}}, followed by .PATH for JSON';
  const near = findings.near(root, [...inputs, ...ids]);
  const hint = `${near ?? forms}; a backslash before the braces says that they are text`;
  findings.warning('not-a-reference', `${written} is not a reference and is left as it is`, use.at, hint);
}

function checkOutput(id: string, { step, at }: Pick<Use, 'step' | 'at'>, references: References): boolean {
  const { graph } = references;
  if (graph.hasOutput(id)) return true;
  const what = graph.step(id)?.end === undefined ? 'it waits for time to pass' : 'it ends the workflow';
  const hint = `${what}: refer to a step that gives something`;
  references.fault('missing-output', `${step.label} refers to ${quoteShort(id)}, which has no output`, at, hint);
  return false;
}

function checkStep(
  id: string,
  { step, at }: Pick<Use, 'step' | 'at'>,
  { graph }: References,
  findings: Findings,
): void {
  if (graph.endsBefore(id, step)) return;
  const ids = graph.idsAround(step);
  if (!ids.has(id)) {
    const block = graph.blockOf(id);
    const what = block === undefined ? 'which does not exist' : `which is inside of ${block.label}`;
    const outside =
      block?.map === undefined
        ? `write steps.${block?.id}.outputs.${id}.output`
        : `it has one for each item: write steps.${block.id}.output`;
    const hint = block === undefined ? nearestStep(id, ids, findings) : outside;
    findings.error('unknown-step', `${step.label} refers to the step ${quoteShort(id)}, ${what}`, at, hint);
    return;
  }
  const refers = `${step.label} refers to`;
  if (id === step.id || graph.isAround(id, step)) {
    const own =
      id === step.id ? 'its own output' : `the ${graph.step(id)?.map === undefined ? 'loop' : 'map'} around it`;
    const hint = `write steps.${id}.output? for that of the round before`;
    const isRepeated = graph.endedInRoundBefore(id, step);
    findings.error('not-upstream', `${refers} ${own}`, at, isRepeated ? hint : 'a step sees what ran before it');
    return;
  }
  const hint = graph.endedInRoundBefore(id, step)
    ? `add ${id} to its depends_on, or write steps.${id}.output? for that of the round before`
    : `add ${id} to its depends_on`;
  const message = `${refers} the step ${quoteShort(id)}, which need not have run before`;
  findings.error('not-upstream', message, at, hint);
}
