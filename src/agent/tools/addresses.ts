import { isIPv4, isIPv6 } from 'node:net';

/** Ranges that belong to nobody on the public Internet: [first bytes, length of the prefix in bits]. */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];
const PUBLIC_V6 = ['2000::', 3] as const;
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo, which carries another address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries another address
  ['3fff::', 20], // documentation
];
const MAPPED_V4 = ['::ffff:0:0', 96] as const;

/**
 * The bytes of an IP address, 4 or 16; undefined for anything that is none. Only the plain dotted form of IPv4 is one: the
 * octal, short and hexadecimal forms never come out of a parsed URL or a resolver.
 */
export function addressBytes(address: string): readonly number[] | undefined {
  const text = address.split('%', 1)[0] ?? '';
  if (isIPv4(text)) return text.split('.').map(Number);
  return isIPv6(text) ? bytesOfV6(text) : undefined;
}

/**
 * True for addresses of the public Internet. False for private, loopback, link-local, metadata, reserved, documentation and
 * multicast ranges, in IPv4 and IPv6, also when an IPv4 address is written as an IPv6 one; and for what is not an address.
 *
 * @example
 * isPublicAddress('::ffff:7f00:1'); // false
 */
export function isPublicAddress(address: string): boolean {
  const bytes = addressBytes(address);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return !REFUSED_V4.some((range) => inRange(bytes, range));
  if (inRange(bytes, MAPPED_V4)) return !REFUSED_V4.some((range) => inRange(bytes.slice(12), range));
  return inRange(bytes, PUBLIC_V6) && !REFUSED_V6.some((range) => inRange(bytes, range));
}

/** True when both are the same address; an IPv4 address equals its IPv6-mapped form. */
export function sameAddress(a: string, b: string): boolean {
  const [left, right] = [canonical(a), canonical(b)];
  return left !== undefined && left === right;
}

function canonical(address: string): string | undefined {
  const bytes = addressBytes(address);
  if (bytes === undefined) return undefined;
  return (bytes.length === 16 && inRange(bytes, MAPPED_V4) ? bytes.slice(12) : bytes).join('.');
}

function inRange(bytes: readonly number[], [first, bits]: readonly [string, number]): boolean {
  const range = addressBytes(first) ?? [];
  if (range.length !== bytes.length) return false;
  for (let i = 0; i * 8 < bits; i++) {
    const mask = bits - i * 8 >= 8 ? 0xff : (0xff00 >> (bits - i * 8)) & 0xff;
    if (((bytes[i] ?? 0) & mask) !== ((range[i] ?? 0) & mask)) return false;
  }
  return true;
}

function bytesOfV6(text: string): readonly number[] {
  // The last two groups may be written as an IPv4 address.
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const tail = dotted === null ? [] : (dotted[2] ?? '').split('.').map(Number);
  const head = dotted === null ? text : trimColon(dotted[1] ?? '');
  const [left = '', right] = head.split('::');
  const before = groups(left);
  const after = [...(right === undefined ? [] : groups(right)), ...tail];
  const gap = right === undefined ? [] : Array.from({ length: 16 - before.length - after.length }, () => 0);
  return [...before, ...gap, ...after];
}

/** `::ffff:` is left as `::ffff`, and `::` as it is. */
function trimColon(head: string): string {
  return head.endsWith('::') ? head : head.slice(0, -1);
}

function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
