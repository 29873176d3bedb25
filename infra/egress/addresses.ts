import ipaddr from 'ipaddr.js';

/** Public by their range, but answered by the cloud's own machinery: Azure's wire server. */
const cloudMachinery: ReadonlySet<string> = new Set(['168.63.129.16']);

/** IPv6 addresses that reach the public internet lie in here; everything else is special. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * True when an address (a literal as the resolver gives it, no brackets) is an ordinary public host.
 * Private, loopback, link-local (so also 169.254.169.254), multicast, mapped, NAT64, 6to4, Teredo and
 * reserved ranges are not; neither is anything that does not parse.
 */
export function isPublicAddress(address: string): boolean {
  const literal = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(literal)) return false;
  const parsed = ipaddr.parse(literal);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv6' ? parsed.match(globalUnicast) : !cloudMachinery.has(parsed.toString());
}
