import type { Scope } from './check-scope.js';
import { DECLARED, declarationFaults } from './declarations.js';

/** What a workflow declares of calls: `bad-host`, `bad-command`, `bad-send`, `unknown-input`; `no-effect` where another workflow calls it. */
export function checkDeclarations({ plan, place, findings }: Scope): void {
  if (DECLARED.every((key) => plan[key] === undefined)) return;
  const inputs = plan.inputs.map(({ name }) => name);
  for (const { key, index, code, message, hint } of declarationFaults(
    plan,
    plan.openInputs === true ? undefined : inputs,
  ))
    findings.add(code, message, { path: `${key}[${index}]`, hint });
  if (place === '') return;
  const message = `what the called workflow ${plan.name} declares of calls counts only where it is run by itself`;
  findings.add('no-effect', message, { hint: 'declare it in the file that calls it', severity: 'warning' });
}
