import { BlockList, isIP } from 'node:net'
import { SPECIAL_ADDRESSES } from '#shared/contracts/special-addresses.ts'
import type { Family, NetworkId } from '#shared/domain/enumerations.ts'
import { providerOf } from '#shared/domain/nodes/providers.ts'
import type { ScanChoice } from '#shared/ports/chain-catalog.ts'
import type { NodeSettings } from './definitions/chain.ts'
import { CHAINS } from './definitions/registry.ts'
import { isCounted } from './node-prices.ts'

/** Families whose clients read balances, which thrifty scanning needs. */
const THRIFTY_FAMILIES: ReadonlySet<Family> = new Set(['evm'])

/** Addresses of this machine and of the network around it. A check of it reads an IPv4 address inside IPv6 (RFC 4291, 2.5.5.2) as what it is. */
const ownAddresses = new BlockList()
for (const { network, prefix, family, use } of SPECIAL_ADDRESSES)
  if (use !== 'reserved') ownAddresses.addSubnet(network, prefix, family)

/**
 * Last labels of names that the public DNS never has: `localhost` (RFC 6761), `local` and those of appendix G of RFC 6762,
 * `home.arpa` (RFC 8375), `internal` (reserved by ICANN in July 2024; `host.docker.internal`), and `svc`, on which names of
 * Kubernetes' services end that leave the cluster's domain out.
 */
const OWN_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'intranet', 'private', 'corp', 'home', 'lan', 'svc']

/**
 * How the scanner of a network reads it (decision 70): as its setting `source` says; otherwise in full, but thriftily where the family can
 * and at least one of the nodes is hosted. Decides by the settings alone and asks no resolver, so it is the same in every process.
 */
export function chooseScan(network: NetworkId, { source, rpcUrls, quota }: NodeSettings): ScanChoice {
  const { family, name } = CHAINS[network]
  if (source != null) return { source, why: 'The setting "source" of the network says so.' }
  if (!THRIFTY_FAMILIES.has(family)) return { source: 'full', why: `There is no thrifty scanning of ${name}.` }
  const urls = rpcUrls.map((url) => new URL(url))
  const hosted = urls.find(({ hostname }) => !isOwnHost(hostname))
  if (hosted !== undefined) return thriftyFor(`${providerOf(hosted.host)} is a hosted node`)
  const counted = urls.find(({ host }) => isCounted(quota, providerOf(host)))
  if (counted !== undefined) return thriftyFor(`calls to ${providerOf(counted.host)} count against a quota`)
  const all = urls.length > 1 ? 'all nodes are your own' : 'the node is your own'
  const hosts = urls.map(({ host }) => host).join(', ')
  return { source: 'full', why: `The default, because ${all} (${hosts}). The setting "source":"thrifty" changes it.` }
}

const thriftyFor = (cause: string): ScanChoice => ({
  source: 'thrifty',
  why: `The default, because ${cause}. The setting "source":"full" changes it.`,
})

/** Whether a host of a parsed URL is on this machine or in a private network, as far as its text shows. */
function isOwnHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const version = isIP(name)
  if (version !== 0) return ownAddresses.check(name, version === 4 ? 'ipv4' : 'ipv6')
  return !name.includes('.') || OWN_NAMES.some((end) => name.endsWith(`.${end}`))
}
