import { schemaFindings } from '../../lang/schema-check.js';
import type { PlacedPack, Variable } from './pack.js';
import { variableSchema } from './variables.js';

/** Variables: each once in a prompt, with a default that its own rules take. */
export function checkVariables({ pack, findings, at }: PlacedPack): void {
  for (const [prompt, { variables = [] }] of Object.entries(pack.prompts)) {
    const seen = new Set<string>();
    for (const [index, variable] of variables.entries()) {
      const place = (key: string): ReturnType<typeof at> => at('prompts', prompt, 'variables', String(index), key);
      const name = `prompts[${JSON.stringify(prompt)}]: variable "${variable.name}"`;
      if (seen.has(variable.name))
        findings.error('duplicate-variable', `${name} is there twice`, place('name'), 'take one of them out');
      seen.add(variable.name);
      const wrong = problemOf(variable);
      if (wrong !== undefined) findings.error('bad-variable', `${name}: ${wrong}`, place('validation'));
      else if (variable.default !== undefined) {
        const [finding] = schemaFindings(variableSchema(variable), variable.default);
        if (finding === undefined) continue;
        const message = `${name}: its default ${finding.replace(/^\/: /, '')}`;
        findings.error('bad-variable', message, place('default'), 'correct the default, or what the variable may be');
      }
    }
  }
}

/** Rules that nothing can follow: a pattern that is none. */
function problemOf({ validation = {} }: Variable): string | undefined {
  const { pattern } = validation;
  if (pattern === undefined) return undefined;
  return schemaFindings({ pattern }, '').find((finding) => finding.includes("can't be used"));
}
