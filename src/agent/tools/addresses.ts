import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Ranges outside the public Internet: [first address, prefix length in bits]. They include IPv4 addresses written as IPv6. */
const REFUSED = ranges('ipv4', [
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
]);
const PUBLIC_V6 = ranges('ipv6', [['2000::', 3]]);
const REFUSED_V6 = ranges('ipv6', [
  ['2001::', 23], // protocol assignments, Teredo, which carries another address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries another address
  ['3fff::', 20], // documentation
]);
const MAPPED_V4 = ranges('ipv6', [['::ffff:0:0', 96]]);

type Family = 'ipv4' | 'ipv6';

function ranges(family: Family, list: readonly (readonly [string, number])[]): BlockList {
  const found = new BlockList();
  for (const [first, bits] of list) found.addSubnet(first, bits, family);
  return found;
}

/** Returns an IP address without its zone; undefined for other text. IPv4 must be in plain dotted form. */
function readAddress(address: string): readonly [text: string, family: Family] | undefined {
  const text = address.split('%', 1)[0] ?? '';
  if (isIPv4(text)) return [text, 'ipv4'];
  return isIPv6(text) ? [text, 'ipv6'] : undefined;
}

/** True for addresses of the public Internet, also for IPv4 written as IPv6; false for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const read = readAddress(address);
  if (read === undefined || REFUSED.check(...read)) return false;
  if (read[1] === 'ipv4' || MAPPED_V4.check(...read)) return true;
  return PUBLIC_V6.check(...read) && !REFUSED_V6.check(...read);
}

/** True if both are the same address; an IPv4 address equals its IPv6-mapped form. */
export function sameAddress(a: string, b: string): boolean {
  const [one, other] = [readAddress(a), readAddress(b)];
  if (one === undefined || other === undefined) return false;
  const only = new BlockList();
  only.addAddress(...one);
  return only.check(...other);
}
