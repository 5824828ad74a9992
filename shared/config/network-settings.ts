import { z } from 'zod'
import { ASSET_IDS, MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'

/** URLs of nodes: plain http is fine (nodes usually stand on the private network), other schemes are not. */
const rpcUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })

const nodeSettings = z.strictObject({
  rpcUrls: z.array(rpcUrl).min(1, 'needs at least one URL'),
  chainId: z.int().positive().nullable().default(null),
  confirmations: z.int().min(1).max(10_000).nullable().default(null),
  contracts: z.partialRecord(z.enum(ASSET_IDS), z.string().min(1)).default({}),
})

const perMode = z.partialRecord(z.enum(NETWORK_IDS), nodeSettings)

/** Shape of `PAYMESH_NETWORKS`; both modes are always present after parsing. */
export const networkSettingsSchema = z.partialRecord(z.enum(MODES), perMode).transform((value) => ({
  live: value.live ?? {},
  test: value.test ?? {},
}))

/**
 * The nodes of this installation by mode and network; a network that is absent has no node in that mode. `rpcUrls` holds
 * at least one http(s) URL, the preferred first. `chainId`, `confirmations` and `contracts` (contract or mint by asset
 * id) replace the registry's figures where they are given; null and absent entries mean "as in the registry".
 */
export type NetworkSettings = z.output<typeof networkSettingsSchema>
