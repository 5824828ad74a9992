import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** IANA IPv4 special-purpose registry, multicast, reserved space, and one public-looking host that clouds reserve. */
const IPV4_DENIED: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Azure's WireServer, reachable from every virtual machine there.
  ['168.63.129.16', 32],
]

/** Holes in 2000::/3 by the IANA IPv6 special-purpose registry: Teredo, ORCHID and the rest of 2001::/23, documentation, 6to4, 6bone, AS112. */
const IPV6_DENIED: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3ffe::', 16],
  ['3fff::', 20],
]

const deniedV4 = listOf(IPV4_DENIED, 'ipv4')
const deniedV6 = listOf(IPV6_DENIED, 'ipv6')
const globalUnicastV6 = listOf([['2000::', 3]], 'ipv6')
const loopback = listOf([['127.0.0.0', 8]], 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * True only for an IP address on the public internet that merchants may use. Everything else is false: private,
 * loopback, link-local, reserved, multicast, every way to write an IPv4 address inside IPv6 (mapped, compatible, NAT64,
 * 6to4, Teredo), addresses with a zone, and texts that are not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !deniedV4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicastV6.check(address, 'ipv6') && !deniedV6.check(address, 'ipv6')
}

/** True for an address of this machine itself: 127.0.0.0/8 and ::1. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, 'ipv4')
  return isIPv6(address) && !address.includes('%') && loopback.check(address, 'ipv6')
}

function listOf(blocks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of blocks) list.addSubnet(network, prefix, family)
  return list
}
