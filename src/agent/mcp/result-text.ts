import type { CallToolResult } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { headAndTail } from '../tools/text.js';

const MAX_RESULT_CHARS = 256 * 1024;

/**
 * The answer of an MCP tool as text: text parts one below the other, a note for what is no text, the structured content when
 * there is nothing else. Cut to 256 Ki characters, beginning and end.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` with the text when the server says that the call failed
 */
export function resultText(result: CallToolResult): string {
  const parts = result.content.map(partText).filter((part) => part !== '');
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const text = headAndTail(parts.join('\n'), MAX_RESULT_CHARS);
  if (result.isError === true) throw new SkeinError('SKEIN_TOOL_FAILED', text === '' ? 'the tool failed' : text);
  return text === '' ? '[no output]' : text;
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} left out: ${part.mimeType}, ${part.data.length} characters of base64]`;
    case 'resource_link':
      return `[resource ${part.uri}: ${part.name}]`;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[binary resource left out: ${part.resource.uri}]`;
  }
}
