import { z } from 'zod'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { NETWORKS, TESTNET_IDS, type TestnetId } from '#shared/domain/networks.ts'
import { providerOf, USAGE_UNITS } from '#shared/domain/nodes/providers.ts'
import { plainHttpUrl } from './http-url.ts'

/** More than any plan sells; figures above are slips. */
const UNITS_MAX = 1_000_000_000_000

const quotaSettings = z.strictObject({
  perMonth: z
    .int('must be a whole number of units')
    .min(1, 'must be at least 1')
    .max(UNITS_MAX, `must be at most ${UNITS_MAX}`),
  unit: z.enum(USAGE_UNITS, `must be one of ${USAGE_UNITS.join(', ')}`),
  hosts: z
    .array(
      z
        .string()
        .regex(/^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/, 'must be a host such as rpc.example.com:8545'),
    )
    .min(1, 'needs at least one host; leave it out to count the provider alone')
    .optional(),
})

const nodeSettings = z.strictObject({
  rpcUrls: z.array(plainHttpUrl).min(1, 'needs at least one URL'),
  chainId: z.int().positive().nullable().default(null),
  confirmations: z.int().min(1).max(10_000).nullable().default(null),
  contracts: z.partialRecord(z.enum(ASSET_IDS), z.string().min(1)).default({}),
  genesis: z
    .string()
    .regex(
      /^([0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{43,44}|any)$/,
      'must be the hash of block 0 as its nodes write it, or any',
    )
    .nullable()
    .default(null),
  testnet: z.enum(TESTNET_IDS, `must be one of ${TESTNET_IDS.join(', ')}`).nullish(),
  quota: quotaSettings.nullish(),
  source: z.enum(['full', 'thrifty'], 'must be full or thrifty').nullish(),
})

/** A quota that counts nothing would never warn. */
const withCountedHosts = nodeSettings.superRefine(({ rpcUrls, quota }, context) => {
  if (quota == null) return
  const hosts = rpcUrls.filter((url) => URL.canParse(url)).map((url) => new URL(url).host)
  const unknown = (quota.hosts ?? []).filter((host) => !hosts.includes(host))
  if (unknown.length > 0) {
    const message = `${unknown.join(', ')} is no host of rpcUrls`
    context.addIssue({ code: 'custom', message, path: ['quota', 'hosts'] })
  }
  if (quota.hosts !== undefined || quota.unit === 'calls') return
  if (hosts.some((host) => providerOf(host) === quota.unit)) return
  const message = `no URL is of ${quota.unit}: name the hosts that it bills in quota.hosts, or use unit calls`
  context.addIssue({ code: 'custom', message, path: ['quota', 'unit'] })
})

const perMode = z.partialRecord(z.enum(NETWORK_IDS), withCountedHosts)

/** Real money is received only on the real chain. */
const liveMode = perMode.superRefine((networks, context) => {
  for (const [network, node] of Object.entries(networks)) {
    for (const key of ['genesis', 'testnet'] as const) {
      if (node === undefined || node[key] == null) continue
      context.addIssue({ code: 'custom', message: 'can be set in test mode only', path: [network, key] })
    }
  }
})

/** A testnet is one of its network, and a local chain is none. */
const testMode = perMode.superRefine((networks, context) => {
  for (const network of NETWORK_IDS) {
    const { testnet, genesis } = networks[network] ?? {}
    if (testnet == null) continue
    const known: readonly TestnetId[] = NETWORKS[network].testnets
    const issue = (message: string) => context.addIssue({ code: 'custom', message, path: [network, 'testnet'] })
    if (!known.includes(testnet)) issue(`must be one of ${known.join(', ')}`)
    else if (genesis != null) issue('names a public testnet, genesis another chain: leave one of them out')
  }
})

/** Shape of `PAYMESH_NETWORKS`; both modes are always present after parsing. */
export const networkSettingsSchema = z
  .strictObject({ live: liveMode.optional(), test: testMode.optional() })
  .transform((value) => ({
    live: value.live ?? {},
    test: value.test ?? {},
  }))

/**
 * The nodes of this installation by mode and network; an absent network has no node in that mode. `rpcUrls` holds
 * at least one http(s) URL, the preferred first. `chainId` (EVM networks), `confirmations`, `contracts` (contract or mint by
 * asset id) and, in test mode, `testnet` and `genesis` (all others) replace the registry's figures if given; null and absent
 * entries mean "as in the registry".
 */
export type NetworkSettings = z.output<typeof networkSettingsSchema>

/** The same networks without the URLs of their nodes, which may hold access tokens: `rpcUrls` is empty. */
export function withoutNodeUrls({ live, test }: NetworkSettings): NetworkSettings {
  return { live: emptied(live), test: emptied(test) }
}

const emptied = (networks: NetworkSettings['live']): NetworkSettings['live'] =>
  Object.fromEntries(Object.entries(networks).map(([network, node]) => [network, { ...node, rpcUrls: [] }]))
