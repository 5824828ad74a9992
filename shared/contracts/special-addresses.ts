/** A block of addresses that no stranger on the internet has: of this machine, of the network around it, or reserved. */
export interface AddressBlock {
  readonly network: string
  /** Bits of `network` that an address of the block shares. */
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
  readonly use: 'loopback' | 'local' | 'reserved'
}

const v4 = (use: AddressBlock['use'], ...blocks: readonly (readonly [string, number])[]): readonly AddressBlock[] =>
  blocks.map(([network, prefix]) => ({ network, prefix, family: 'ipv4', use }))

const v6 = (use: AddressBlock['use'], ...blocks: readonly (readonly [string, number])[]): readonly AddressBlock[] =>
  blocks.map(([network, prefix]) => ({ network, prefix, family: 'ipv6', use }))

/**
 * The special-purpose registries of IANA for IPv4 and, within 2000::/3, for IPv6; multicast, reserved space, and one public-looking host that
 * clouds reserve. Outside 2000::/3 only the blocks of this machine and its network are listed, because no address there is public.
 * Tailscale and other overlays use 100.64.0.0/10.
 */
export const SPECIAL_ADDRESSES: readonly AddressBlock[] = [
  ...v4('loopback', ['127.0.0.0', 8]),
  ...v4('local', ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['169.254.0.0', 16], ['172.16.0.0', 12]),
  ...v4('local', ['192.168.0.0', 16]),
  ...v4('reserved', ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.31.196.0', 24], ['192.52.193.0', 24]),
  ...v4('reserved', ['192.88.99.0', 24], ['192.175.48.0', 24], ['198.18.0.0', 15], ['198.51.100.0', 24]),
  ...v4('reserved', ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4]),
  // Azure's WireServer, reachable from every virtual machine there.
  ...v4('reserved', ['168.63.129.16', 32]),
  ...v6('loopback', ['::1', 128]),
  ...v6('local', ['::', 128], ['fc00::', 7], ['fe80::', 10]),
  // Teredo, ORCHID and the rest of 2001::/23, documentation, 6to4, AS112, 6bone.
  ...v6('reserved', ['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['2620:4f:8000::', 48], ['3ffe::', 16]),
  ...v6('reserved', ['3fff::', 20]),
]
