import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { SPECIAL_ADDRESSES } from '#shared/contracts/special-addresses.ts'

const special = new BlockList()
const loopback = new BlockList()
for (const { network, prefix, family, use } of SPECIAL_ADDRESSES) {
  special.addSubnet(network, prefix, family)
  if (use === 'loopback') loopback.addSubnet(network, prefix, family)
}
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * True only for an IP address on the public internet that merchants may use. Everything else is false: private,
 * loopback, link-local, reserved, multicast, every way to write an IPv4 address inside IPv6 (mapped, compatible, NAT64,
 * 6to4, Teredo), addresses with a zone, and texts that are not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** True for an address of this machine itself: 127.0.0.0/8 and ::1. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, 'ipv4')
  return isIPv6(address) && !address.includes('%') && loopback.check(address, 'ipv6')
}
