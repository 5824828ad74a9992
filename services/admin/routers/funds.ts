import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { walletAdvice } from '#shared/contracts/wallet-previews.ts'
import { ASSET_IDS, FIAT_CODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { WALLET_KINDS } from '#shared/ports/key-material.ts'
import { adviseWallet } from '#shared/usecases/funds/advise-wallet.ts'
import { readWalletFunds } from '#shared/usecases/funds/read-wallet-funds.ts'
import { router, workspaceQuery } from '../trpc.ts'

const network = z.enum(NETWORK_IDS)
const line = z.object({
  network,
  address: z.string(),
  path: z.string().nullable(),
  asset: z.enum(ASSET_IDS),
  symbol: z.string(),
  /** Amounts are decimal strings; null means unknown. */
  balance: z.string().nullable(),
  fee: z.string().nullable(),
  feeSymbol: z.string(),
  topUp: z.string(),
  currency: z.enum(FIAT_CODES),
  balanceFiat: z.string().nullable(),
  feeFiat: z.string().nullable(),
})

/** Where a wallet's money lies and what moving it costs; reads nodes, so it is for people who run the workspace. */
export const fundsRouter = router({
  /** One page of one network: at most 20 addresses and 100 calls to nodes; one reading at a time for each workspace. */
  page: workspaceQuery('admin')
    .input(z.object({ walletId: z.uuid(), network, after: boundedText(140).nullable().default(null) }))
    .output(
      z.object({
        lines: z.array(line),
        addresses: z.number(),
        next: z.string().nullable(),
        height: z.number().nullable(),
        fees: z.array(z.object({ name: z.string(), value: z.string(), unit: z.string() })),
        /** Why everything is unknown; null when a node responded. */
        fault: z.enum(['no_node', 'not_supported', 'no_response', 'behind']).nullable(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const { funds } = ctx.deps
      const { workspaceId, mode, walletId, network: on, after } = input
      const request = { workspaceId, mode, walletId, network: on, after, timeoutMs: funds.timeoutMs }
      const key = [mode, walletId, on, after ?? ''].join(' ')
      const { lines, facts, ...page } = await funds.gate.run(workspaceId, key, () => readWalletFunds(funds, request))
      return { ...page, lines: [...lines], fees: facts.map((fact) => ({ ...fact, value: fact.value.toString() })) }
    }),

  /** What moving one payment costs, beside the usual invoice, for a wallet that is about to be added. */
  advice: workspaceQuery('admin')
    .input(z.object({ kind: z.enum(WALLET_KINDS), networks: z.array(network).min(1).max(NETWORK_IDS.length) }))
    .output(walletAdvice)
    .query(async ({ ctx, input }) => {
      const { funds } = ctx.deps
      const { workspaceId, mode, kind } = input
      const networks = [...new Set(input.networks)].toSorted()
      const key = `advice ${mode} ${kind} ${networks.join(' ')}`
      return await funds.gate.run(workspaceId, key, () => adviseWallet(funds, { workspaceId, mode, kind, networks }))
    }),
})
