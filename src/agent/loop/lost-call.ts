import type { Lost } from '../../engine/ports/recording.js';
import type { StepContext, StateWatch } from '../../engine/ports/executor.js';
import { probedBy, type LostCall, type Probed } from '../../plan/probe.js';
import type { ToolCall } from '../model.js';
import type { AgentStep, OpenedTool } from '../session.js';
import type { Answer } from './answer.js';
import { callEvidence } from './approval.js';
import type { CallChecks } from './call-check.js';
import { callKey } from './identities.js';

const CUT_OFF = 'This call was made, and then the run was interrupted before the result could be recorded.';
const NOT_KNOWN = 'Its result is not known; do not make the same call again.';

/** The result for a model of a call that was done, and whose result is not known. */
function doneBy(who: string): Answer {
  return { output: `${CUT_OFF} ${who} says that it was done. ${NOT_KNOWN}`, isError: false, own: true, lost: true };
}

interface Place {
  readonly step: Pick<StepContext, 'note'>;
  readonly use: AgentStep['use'];
  readonly check: Pick<CallChecks, 'prepared'>;
  readonly tool: OpenedTool | undefined;
  readonly watch: Pick<StateWatch, 'lostReads'>;
}

/** Finds out about an interrupted `once` call of an agent. */
export function lostCall(call: ToolCall, { step, use, check, tool, watch }: Place): Lost {
  const known: Lost = {
    evidence: callEvidence(call),
    value: () => {
      watch.lostReads();
      return doneBy('A person');
    },
  };
  if (tool?.probes !== true) return known;
  const ask = async (lost: LostCall): Promise<Probed> => {
    const { tools } = await use({ signal: lost.signal });
    const { tool: open, input } = await check.prepared(call, tools);
    const found = await open.probe?.(input, { ...lost, idempotencyKey: callKey(lost.idempotencyKey, call) });
    if (found?.done !== true) return found;
    watch.lostReads();
    const { result } = found;
    return { done: true, result: result === undefined ? doneBy('The tool') : { output: result, isError: false } };
  };
  return { ...known, probe: (lost) => probedBy(call.name, ask, lost, (note) => step.note(note)) };
}
