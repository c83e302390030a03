/**
 * True when a version of three numbers is not before another one.
 *
 * @example
 * isAtLeast('3.53.0', '3.51.3'); // true
 */
export function isAtLeast(version: string, needed: string): boolean {
  const [a = [], b = []] = [version, needed].map((text) => text.split('.').map(Number));
  for (let at = 0; at < b.length; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
