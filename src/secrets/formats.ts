import { Buffer } from 'node:buffer';
import { unescape } from 'node:querystring';

/** A kind of key that a service issues, described by its shape. */
interface SecretFormat {
  readonly name: string;
  /**
   * Source of a regular expression. A match cannot begin after a letter or digit. Repetitions are of single classes, and consecutive ones
   * are separated by a character, so that the time is linear in the text.
   */
  readonly shape: string;
  /** The same where a person decides about the text: only what can be nothing but a key. Absent: the shape is that. */
  readonly strict?: string;
}

const WORD = String.raw`[A-Za-z0-9_-]`;

/** From the services' own pages and public scanners. Shapes shared with ordinary words and digests are left out. */
export const SECRET_FORMATS: readonly SecretFormat[] = [
  { name: 'Anthropic', shape: `sk-ant-${WORD}{20,}` },
  { name: 'OpenAI', shape: `sk-(?=${WORD}{0,40}[0-9])${WORD}{20,}` },
  { name: 'Google API', shape: `AIza${WORD}{35}` },
  { name: 'Google OAuth', shape: `ya29\\.${WORD}{20,}` },
  { name: 'Google OAuth client', shape: `GOCSPX-${WORD}{20,}` },
  { name: 'xAI', shape: 'xai-[A-Za-z0-9]{32,}' },
  { name: 'Groq', shape: 'gsk_[A-Za-z0-9]{32,}' },
  { name: 'Perplexity', shape: 'pplx-[A-Za-z0-9]{32,}' },
  { name: 'Replicate', shape: 'r8_[A-Za-z0-9]{32,}' },
  { name: 'Hugging Face', shape: 'hf_[A-Za-z0-9]{30,}' },
  { name: 'GitHub', shape: 'gh[pousr]_[A-Za-z0-9]{30,}' },
  { name: 'GitHub fine-grained', shape: 'github_pat_[A-Za-z0-9_]{30,}' },
  { name: 'GitLab', shape: `gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-${WORD}{20,}` },
  { name: 'Bitbucket', shape: 'ATBB[A-Za-z0-9]{28,}' },
  { name: 'Atlassian', shape: 'ATATT3[A-Za-z0-9_=-]{40,}' },
  { name: 'npm', shape: 'npm_[A-Za-z0-9]{30,}' },
  { name: 'PyPI', shape: `pypi-${WORD}{40,}` },
  { name: 'RubyGems', shape: 'rubygems_[a-f0-9]{40,}' },
  { name: 'Docker', shape: `dckr_(?:pat|oat)_${WORD}{20,}` },
  { name: 'AWS access key', shape: '(?:AKIA|ASIA|AROA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])' },
  {
    name: 'AWS secret key',
    shape: String.raw`aws_?(?:secret_?access_?key|session_?token|secret)["']?\s{0,4}[:=]\s{0,4}["']?[A-Za-z0-9/+=]{40,}`,
  },
  { name: 'Azure storage', shape: 'AccountKey=[A-Za-z0-9+/]{40,}={0,2}' },
  { name: 'Azure shared access', shape: 'SharedAccessKey=[A-Za-z0-9+/]{40,}={0,2}' },
  { name: 'Slack', shape: 'xox[abeoprs]-[A-Za-z0-9-]{10,}' },
  { name: 'Slack app', shape: 'xapp-[A-Za-z0-9-]{20,}' },
  {
    name: 'Slack webhook',
    shape: String.raw`(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9_/]{20,}`,
  },
  { name: 'Discord webhook', shape: String.raw`(?<=discord(?:app)?\.com/api/)webhooks/[0-9]{10,}/[A-Za-z0-9_-]{40,}` },
  { name: 'Discord bot', shape: `[MNO][A-Za-z0-9_-]{23,27}\\.${WORD}{6}\\.${WORD}{27,}` },
  { name: 'Telegram bot', shape: `[0-9]{8,10}:AA${WORD}{32,}` },
  { name: 'Stripe', shape: '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}' },
  { name: 'Stripe webhook', shape: 'whsec_[A-Za-z0-9+/=]{24,}' },
  { name: 'Square', shape: `sq0(?:atp|csp|idp)-${WORD}{20,}` },
  { name: 'PayPal Braintree', shape: String.raw`access_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[a-f0-9]{20,}` },
  { name: 'Shopify', shape: 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}' },
  { name: 'Twilio', shape: '(?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])' },
  { name: 'SendGrid', shape: `SG\\.${WORD}{16,}\\.${WORD}{16,}` },
  { name: 'Mailgun', shape: 'key-[a-f0-9]{32}(?![A-Za-z0-9])' },
  { name: 'Mailchimp', shape: '[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])' },
  { name: 'DigitalOcean', shape: 'do[opr]_v1_[a-f0-9]{40,}' },
  { name: 'Heroku', shape: `HRKU-${WORD}{30,}` },
  { name: 'Fly', shape: 'fm[12]_[A-Za-z0-9+/=_-]{40,}' },
  { name: 'Databricks', shape: 'dapi[a-f0-9]{32}' },
  { name: 'Vault', shape: `hv[sbr]\\.${WORD}{20,}` },
  { name: 'Terraform', shape: `[A-Za-z0-9]{14}\\.atlasv1\\.${WORD}{40,}` },
  { name: 'Pulumi', shape: 'pul-[a-f0-9]{40}' },
  { name: 'Doppler', shape: String.raw`dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{30,}` },
  { name: 'Grafana', shape: 'gl(?:sa|c)_[A-Za-z0-9+/=_]{30,}' },
  { name: 'New Relic', shape: 'NR(?:AK|JS|II|RA|AL)-[A-Za-z0-9]{20,}' },
  { name: 'Sentry', shape: 'sntry[us]_[A-Za-z0-9+/=_-]{40,}' },
  { name: 'Postman', shape: 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}' },
  { name: 'Linear', shape: 'lin_(?:api|oauth)_[A-Za-z0-9]{30,}' },
  { name: 'Notion', shape: '(?:secret|ntn)_[A-Za-z0-9]{40,}' },
  { name: 'Airtable', shape: String.raw`pat[A-Za-z0-9]{14}\.[a-f0-9]{64}` },
  { name: 'Figma', shape: `figd_${WORD}{36,}` },
  { name: 'Supabase', shape: 'sbp_[a-f0-9]{40}' },
  { name: 'PlanetScale', shape: `pscale_(?:tkn|pw|oauth)_${WORD}{30,}` },
  { name: 'age', shape: 'AGE-SECRET-KEY-1[A-Z0-9]{50,}' },
  { name: 'JSON Web Token', shape: `eyJ${WORD}{8,}\\.eyJ${WORD}{8,}(?:\\.${WORD}*)?` },
  {
    name: 'Authorization header',
    shape: String.raw`(?:[Bb]earer|[Bb]asic)\s{1,4}(?=\S{0,200}[0-9])[A-Za-z0-9._~+/-]{20,}={0,2}`,
    strict: String.raw`(?:[Bb]earer|[Bb]asic)\s{1,4}(?=\S{0,200}[0-9])[A-Za-z0-9._~+-]{20,}={0,2}`,
  },
  {
    name: 'password in an address',
    shape: String.raw`[a-z][a-z0-9+.-]{1,20}://[^\s/:@?#"'<>]{0,100}:[^\s/@?#"'<>]{3,200}@`,
    strict: String.raw`[a-z][a-z0-9+.-]{1,20}://[\w.%+-]{0,100}:[\w.%+=-]{3,200}@`,
  },
  {
    name: 'private key',
    // A private key that is cut off extends to the end of the text.
    shape: String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*$)`,
    // Lines of a key are longer than the words and paths of a command, and contain few slashes.
    strict: String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[nrt]){1,9}(?!(?:[A-Za-z0-9+=]{0,80}/){7})[A-Za-z0-9+/=]{40,})*`,
  },
];

/** In JSON text, a preceding line end is written as two characters. */
const BEGINS = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))`;
const ANY = anyOf(SECRET_FORMATS.map(({ shape }) => shape));

function anyOf(shapes: readonly string[]): RegExp {
  return new RegExp(`${BEGINS}(?:${shapes.join('|')})`, 'g');
}

/** Uses the same expression, which Node compiles at its first use: two would take twice as long. */
const hasAny = (text: string): boolean => text.search(ANY) >= 0;

/** Replaces everything that has the shape of a key with `word`, also in base64, in hex or as part of an address. */
export function withoutKnown(text: string, word: string): string {
  return without(text, word, ANY, ENCODED);
}

let strict: RegExp | undefined;

/** {@link withoutKnown} where a person decides about the text: hides nothing that could also be a command, a host or a path. */
export function withoutPlainKeys(text: string, word: string): string {
  strict ??= anyOf(SECRET_FORMATS.map((one) => one.strict ?? one.shape));
  return without(text, word, strict, ENCODED_PART);
}

function without(text: string, word: string, any: RegExp, encoded: RegExp): string {
  if (text.length < SHORTEST_KEY) return text;
  return text.replace(any, word).replace(encoded, (run, at: number, whole: string) => {
    const escape = whole.charAt(at - 1) === '\\' ? run.charAt(0) : '';
    return isEncodedKey(run.slice(escape.length)) ? escape + word : run;
  });
}

const SHORTEST_KEY = 16;

/** A word that may be an encoded key: an unbroken run of the characters of base64, hex and addresses. */
const ENCODED = /[A-Za-z0-9+/=_%.~-]{22,}/g;
/** The same without what separates the parts of hosts and paths. */
const ENCODED_PART = /[A-Za-z0-9+=_%~-]{22,}/g;

function isEncodedKey(run: string): boolean {
  if (run.includes('%') && hasAny(unescape(run))) return true;
  return run.split(/[.~%=]+/).some((part) => {
    if (part.length < 22) return false;
    if (/^(?:[0-9a-fA-F]{2})+$/.test(part)) return hasAny(Buffer.from(part, 'hex').toString('latin1'));
    return hasAny(Buffer.from(part, 'base64').toString('latin1'));
  });
}
