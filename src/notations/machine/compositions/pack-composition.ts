import { refusedByPerson, unmadeCall } from '../../../base/decided.js';
import { SkeinError } from '../../../base/errors.js';
import { present, type Json, type JsonObject } from '../../../base/json.js';
import { schemaFindings } from '../../../lang/schema-check.js';
import type { Definition } from '../../../plan/builder-input.js';
import { cleared } from '../../../plan/tool-use.js';
import { madeOf, mustApprove } from '../../../plan/made-of.js';
import { probedOf, probeOf, type LostCall, type Probed } from '../../../plan/probe.js';
import type { ToolStep } from '../../graph/nodes/tool.js';
import { packTool, packTools, type CalledTool } from '../pack-tools.js';
import type { Pack, Prompt } from '../pack.js';
import { promptAgent, type PromptExtras } from '../prompt-agent.js';
import { compositionSettings } from '../settings.js';
import { supervisedComposition } from '../supervising.js';
import { compositionPlan, type ToolInUse } from './composition-plan.js';

export interface CompositionExtras extends PromptExtras {
  readonly schemas?: ReadonlyMap<string, Json>;
}

/**
 * Builds the plan of a pack's composition. The pack must have no errors.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a tool without an implementation, or a schema that was not read
 */
export function packComposition(pack: Pack, name: string, extras: CompositionExtras): Definition {
  const composition = pack.compositions?.[name];
  if (composition === undefined) throw new TypeError(`no composition ${name}`);
  const { plan, bindings } = compositionPlan(name, composition, {
    agent(prompt, tools) {
      const own: Prompt = { ...(pack.prompts[prompt] ?? { system_template: '' }), tools };
      const used = packTools(pack, own, extras);
      for (const tool of used.missing) throw noTool(name, tool);
      return {
        spec: promptAgent({ ...pack, prompts: { ...pack.prompts, [prompt]: own } }, prompt, extras),
        bindings: (node) => used.bindings(node),
      };
    },
    tool(tool) {
      const { call, ...told } = packTool(pack.tools ?? {}, tool, extras);
      if (call === undefined || !('tool' in told)) throw noTool(name, tool);
      return inUse({ tool: told.tool, call });
    },
    schema(path) {
      const schema = extras.schemas?.get(path);
      if (schema !== undefined) return schema;
      throw new SkeinError('SKEIN_DEFINITION', `compositions["${name}"]: the schema ${path} was not read`, {
        hint: 'schemas are files beneath the folder of the pack: load the pack by its path',
      });
    },
  });
  return { plan: { ...supervisedComposition(pack, name, plan), ...compositionSettings(pack, name) }, bindings };
}

function noTool(name: string, tool: string): SkeinError {
  return new SkeinError('SKEIN_DEFINITION', `compositions["${name}"]: no one implements the tool "${tool}"`, {
    hint: `tools: { ${JSON.stringify(tool)}: (input) => ... }, or --tools MODULE`,
  });
}

/** Lets a step call a tool as a model does: the input is checked, and a person approves the call if required. */
function inUse({ tool, call }: CalledTool): ToolInUse {
  const { name, effect, trust, approve, input: schema } = tool;
  const check = (input: Json): void => {
    const findings = schemaFindings(schema, input);
    if (findings.length > 0)
      throw unmadeCall('SKEIN_INPUT', `the input of ${name} does not match its schema: ${findings.join('; ')}`);
  };
  const run = async (wanted: Json, step: ToolStep): Promise<unknown> => {
    check(wanted);
    const asked = { tool: name, effect, isTrusted: trust === 'trusted', input: wanted as JsonObject };
    const { input, isAllowed } = await cleared(step, asked);
    if (input !== wanted) check(input);
    if (!isAllowed && (approve === true || (approve === 'code' && (await mustApprove(call, input))))) {
      const text = `May the step call ${name} with ${JSON.stringify(input)}?`;
      const answer = await step.ask({ text, choices: ['allow', 'deny'] }, 'approve');
      if (answer !== 'allow') throw refusedByPerson(`the call of ${name}`);
    }
    return await (call as (input: JsonObject, step: ToolStep) => unknown)(input, step);
  };
  const ask = tool.probe === true ? probeOf(call as object) : undefined;
  const probe = ask && (async (input: Json, lost: LostCall): Promise<Probed> => probedOf(await ask(input, lost)));
  return { effect: tool.effect, trust, call: madeOf(run, [call]), ...present({ probe }) };
}
