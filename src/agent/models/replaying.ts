import { SkeinError } from '../../base/errors.js';
import { countText } from '../../base/text.js';
import { isPlainObject, jsonIn } from '../../base/json.js';
import { readCost } from '../../events/spending.js';
import { canonicalJson } from '../../base/hash.js';
import type { Model, ModelPart, ModelRequest, ReplayedCall } from '../model.js';
import { readTextFile } from '../text-files.js';
import { differences, likeness, callKey, normalCall, normalMessages } from './call-record.js';
import type { RecordedCall } from './recording.js';

/** Answers calls from a recording, without any network access. */
export interface Replayer {
  model(id: string): Model;
  /** Names of the recorded models, those of one step first; used if a run names no model. */
  models(path: string): readonly string[];
  /** Reports a call that was answered from the journal of the run: its recording counts as used. */
  skip(call: ReplayedCall): void;
}

/**
 * Opens a recording. Equal calls are answered in the recorded order, those of the same step first; a call that was not recorded, or is made
 * more often than recorded, fails with `SKEIN_REPLAY_MISS` and shows the differences from the nearest recorded one.
 *
 * @throws SkeinError `SKEIN_FILE` if the file cannot be read or is not a recording.
 */
export async function openReplay(path: string): Promise<Replayer> {
  const recording = readRecording(await readTextFile(path, 'recording'), path);
  const { calls } = recording;
  const used = new Set<RecordedCall>();
  return {
    models(step) {
      const own = calls.filter((call) => call.caller.path === step);
      return [...new Set([...own, ...calls].map((call) => call.answer.model))];
    },
    skip(call) {
      const messages = canonicalJson(normalMessages(call.messages()));
      const { path: step, turn } = call.caller;
      const same = (one: RecordedCall): boolean =>
        one.call.model === call.model &&
        one.caller.path === step &&
        one.caller.turn === turn &&
        canonicalJson(one.call.messages) === messages;
      const found = calls.find((one) => !used.has(one) && same(one));
      if (found !== undefined) used.add(found);
    },
    model: (id) => ({
      id,
      inPlaceOf: id,
      structuredOutput: calls.find((call) => call.call.model === id)?.structuredOutput ?? true,
      async *stream(request): AsyncGenerator<ModelPart> {
        request.signal.throwIfAborted();
        const found = find(calls, used, id, request);
        if (found === undefined) throw miss(path, recording, id, request);
        used.add(found);
        yield* answerParts(found, request);
      },
    }),
  };
}

function find(calls: readonly RecordedCall[], used: ReadonlySet<RecordedCall>, id: string, request: ModelRequest) {
  const key = callKey(normalCall(id, request));
  const left = calls.filter((call) => call.key === key && !used.has(call));
  return left.find((call) => call.caller.path === request.caller.path) ?? left[0];
}

/** Yields the answer with new ids, which must be unique in a conversation. */
function* answerParts(found: RecordedCall, request: ModelRequest): Generator<ModelPart> {
  const { text, toolCalls, reason, usage, searched } = found.answer;
  const cost = readCost(found.answer.cost);
  if (searched === true) yield { type: 'searched' };
  if (text !== '') yield { type: 'text', text };
  for (const call of toolCalls) {
    yield { type: 'tool-call', call: { ...call, id: `${call.id}_${request.caller.turn}` } };
  }
  yield { type: 'finish', reason, usage, ...(cost === undefined ? {} : { cost: { ...cost, pretended: true } }) };
}

const HINT = 'record it again with --record, or undo the change';

function miss(path: string, { calls, missing }: Recording, id: string, request: ModelRequest): SkeinError {
  const asked = normalCall(id, request);
  const key = callKey(asked);
  const same = calls.filter((call) => call.key === key).length;
  const who = `agent "${request.caller.agent}" in step ${request.caller.path}, turn ${request.caller.turn}`;
  if (same > 0) {
    const message = `${path} has this call of ${who} ${countText(same, 'time')}, and it is made once more`;
    return new SkeinError('SKEIN_REPLAY_MISS', message, { hint: HINT });
  }
  const nearest = nearestCall(calls, asked);
  const recorded = nearest?.call.model;
  const hint =
    recorded === undefined || recorded === asked.model
      ? HINT
      : `name the recorded model with --model ${recorded}, ${HINT}`;
  const lines = nearest === undefined ? ['the recording is empty'] : differences(nearest.call, asked);
  const where =
    nearest === undefined
      ? ''
      : ` The nearest recorded call (step ${nearest.caller.path}, turn ${nearest.caller.turn}):`;
  const lacks = missing === 0 ? '' : ` It was recorded from a resumed run and lacks ${missing} of its calls.`;
  const message = `${path} has no recording of the call of ${who}.${lacks}${where}\n  ${lines.join('\n  ')}`;
  return new SkeinError('SKEIN_REPLAY_MISS', message, { hint, details: { differences: lines } });
}

function nearestCall(calls: readonly RecordedCall[], asked: ReturnType<typeof normalCall>): RecordedCall | undefined {
  let best: RecordedCall | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const call of calls) {
    const score = likeness(call.call, asked);
    if (score > most) {
      most = score;
      best = call;
    }
  }
  return best;
}

interface Recording {
  readonly calls: readonly RecordedCall[];
  /** Number of calls of the recorded run that are missing from the recording. */
  readonly missing: number;
}

function readRecording(text: string, path: string): Recording {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const parsed = lines.map((line, index) => parseLine(line, index + 1, path));
  const header = parsed[0];
  if (header === undefined || header['skein'] !== 'recording' || header['format'] !== 1) {
    throw new SkeinError('SKEIN_FILE', `${path} is not a Skein recording`, { hint: 'make one with --record' });
  }
  const { missing } = header;
  return {
    calls: parsed.slice(1).map((line, index) => checkedCall(line, index + 2, path)),
    missing: typeof missing === 'number' ? missing : 0,
  };
}

function parseLine(line: string, number: number, path: string): Record<string, unknown> {
  const value = jsonIn(line);
  if (isPlainObject(value)) return value;
  throw damaged(path, number);
}

function checkedCall(line: Record<string, unknown>, number: number, path: string): RecordedCall {
  const { key, caller, call, answer } = line;
  const whole =
    typeof key === 'string' &&
    isPlainObject(caller) &&
    isPlainObject(call) &&
    Array.isArray(call['messages']) &&
    Array.isArray(call['tools']) &&
    isPlainObject(answer) &&
    typeof answer['text'] === 'string' &&
    Array.isArray(answer['toolCalls']) &&
    isPlainObject(answer['usage']);
  if (!whole) throw damaged(path, number);
  return line as unknown as RecordedCall;
}

function damaged(path: string, line: number): SkeinError {
  return new SkeinError('SKEIN_FILE', `${path}:${line}: the recording is damaged`, {
    hint: 'record it again with --record',
  });
}
