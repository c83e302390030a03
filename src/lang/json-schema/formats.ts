const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
/** Characters of an address; `%` begins two hex digits. */
const ADDRESS = /^(?:[a-z0-9\-._~!$&'()*+,;=:@/?#[\]]|%[0-9a-f]{2})*$/i;
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/;

/** The formats that are checked; others are ignored. Each takes time linear in the length of the text. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', (text: string) => text.length < 200 && DURATION.test(text)],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['uri', (text: string) => SCHEME.test(text) && ADDRESS.test(text) && URL.canParse(text)],
  ['url', (text: string) => /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text)],
  ['uri-reference', (text: string) => ADDRESS.test(text) && URL.canParse(text, 'https://schema.invalid/')],
  ['uuid', (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ['json-pointer', (text: string) => POINTER.test(text)],
  ['relative-json-pointer', (text: string) => RELATIVE_POINTER.test(text)],
  ['regex', isRegex],
]);

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const last = DAYS[Number(month) - 1];
  return last !== undefined && Number(day) >= 1 && Number(day) <= (isLeap && month === '02' ? 29 : last);
}

function isTime(text: string): boolean {
  const parts = TIME.exec(text);
  if (parts === null) return false;
  const [hour, minute, second] = parts.slice(1, 4).map(Number) as [number, number, number];
  const [hours, minutes] = [Number(parts[5] ?? 0), Number(parts[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59) return false;
  if (second < 60) return true;
  // Leap seconds end a day of UTC.
  const shift = (parts[4] === '-' ? 1 : -1) * (hours * 60 + minutes);
  return (hour * 60 + minute + shift + 2 * 1440) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  return /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [name, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || name.length > 64) return false;
  const isPlain = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+$/i.test(name) && !/^\.|\.$|\.\./.test(name);
  if (!isPlain && !/^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(name)) return false;
  const literal = /^\[(?:(ipv6:)([^\]]*)|([^\]]*))\]$/i.exec(host);
  if (literal === null) return isHostname(host);
  return literal[1] === undefined ? isIPv4(literal[3] ?? '') : isIPv6(literal[2] ?? '');
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}

function isIPv4(text: string): boolean {
  const parts = text.length > 15 ? [] : text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

function isIPv6(text: string): boolean {
  if (text.length > 45 || !text.includes(':') || text.includes('%')) return false;
  return URL.canParse(`http://[${text}]/`);
}

function isRegex(text: string): boolean {
  if (text.length > 10_000) return false;
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
