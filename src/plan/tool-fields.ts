import type { Json } from '../base/json.js';
import { MCP_SERVERS, PERMISSIONS, SANDBOX } from './agent-fields.js';
import type { Form } from './form.js';
import { any, flag, names, object, TEXT, word } from './form.js';
import type { ToolUse } from './tool-use.js';
import { JSON_TEMPLATE, TEMPLATE } from './value-forms.js';

/** The form of a tool that a step calls by itself. */
export const TOOL_USE: Form<ToolUse> = object<ToolUse>({
  name: TEXT,
  input: JSON_TEMPLATE,
  'stdin?': TEMPLATE,
  'env?': names(TEMPLATE),
  'result?': word('text', 'all'),
  'schema?': any<Json>(),
  'approve?': flag<true>(),
  'permissions?': PERMISSIONS,
  'sandbox?': SANDBOX,
  'mcpServers?': MCP_SERVERS,
});
