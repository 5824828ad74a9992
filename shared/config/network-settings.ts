import { z } from 'zod'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/** URLs of nodes: plain http is fine (nodes usually stand on the private network), other schemes are not. */
const rpcUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })

const nodeSettings = z.strictObject({
  rpcUrls: z.array(rpcUrl).min(1, 'needs at least one URL'),
  chainId: z.int().positive().nullable().default(null),
  confirmations: z.int().min(1).max(10_000).nullable().default(null),
  contracts: z.partialRecord(z.enum(ASSET_IDS), z.string().min(1)).default({}),
  coinLedger: z.enum(['logs', 'trace', 'balance', 'none']).nullable().default(null),
  genesis: z
    .string()
    .regex(
      /^([0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{43,44}|any)$/,
      'must be the hash of block 0 as its nodes write it, or any',
    )
    .nullable()
    .default(null),
})

const perMode = z.partialRecord(z.enum(NETWORK_IDS), nodeSettings)

/** Real money is received on the real chain only. */
const liveMode = perMode.superRefine((networks, context) => {
  for (const [network, node] of Object.entries(networks)) {
    if (node?.genesis === null || node === undefined) continue
    context.addIssue({ code: 'custom', message: 'can be set in test mode only', path: [network, 'genesis'] })
  }
})

/** Shape of `PAYMESH_NETWORKS`; both modes are always present after parsing. */
export const networkSettingsSchema = z
  .strictObject({ live: liveMode.optional(), test: perMode.optional() })
  .transform((value) => ({
    live: value.live ?? {},
    test: value.test ?? {},
  }))

/**
 * The nodes of this installation by mode and network; a network that is absent has no node in that mode. `rpcUrls` holds
 * at least one http(s) URL, the preferred first. `chainId` (EVM networks), `confirmations`, `contracts` (contract or mint by
 * asset id) and, in test mode, `genesis` (all others) replace the registry's figures where they are given; null and absent
 * entries mean "as in the registry".
 */
export type NetworkSettings = z.output<typeof networkSettingsSchema>

/** The same networks without the URLs of their nodes, which may hold access tokens: `rpcUrls` is empty. */
export function withoutNodeUrls({ live, test }: NetworkSettings): NetworkSettings {
  return { live: emptied(live), test: emptied(test) }
}

const emptied = (networks: NetworkSettings['live']): NetworkSettings['live'] =>
  Object.fromEntries(Object.entries(networks).map(([network, node]) => [network, { ...node, rpcUrls: [] }]))
