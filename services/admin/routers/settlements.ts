import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/amount.ts'
import { WALLET_KINDS } from '#shared/ports/key-material.ts'
import { readSettlements } from '#shared/usecases/reports/read-settlements.ts'
import { router, workspaceQuery } from '../trpc.ts'
import { createdFilters } from '../wire/list-filters.ts'
import { pageInput } from '../wire/money-wire.ts'

const rowWire = z.object({
  /** `2026-11-19`, UTC. */
  day: z.string(),
  asset: z.enum(ASSET_IDS),
  symbol: z.string(),
  network: z.enum(NETWORK_IDS),
  networkName: z.string(),
  wallet: z
    .object({ id: z.string(), family: z.enum(FAMILIES), kind: z.enum(WALLET_KINDS), createdAt: z.number() })
    .nullable(),
  payments: z.number(),
  received: z.string(),
  receivedBase: z.string(),
  applied: z.string(),
  /** Received and applied to no invoice, in units of the asset; null when nothing was. */
  notApplied: z.string().nullable(),
})

/** Settlements: what arrived at each wallet, per day and coin. */
export const settlementsRouter = router({
  list: workspaceQuery('viewer')
    .input(
      z.object({
        ...createdFilters,
        ...pageInput,
        cursor: boundedText(15)
          .regex(/^\d{1,15}$/)
          .optional(),
      }),
    )
    .output(z.object({ items: z.array(rowWire), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, from, to, cursor, limit } = input
      const until = Math.min(
        to ?? Number.MAX_SAFE_INTEGER,
        cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor),
      )
      const scope = { workspaceId, mode, from, to: until === Number.MAX_SAFE_INTEGER ? null : until }
      const { days, next } = await readSettlements(money, scope, limit)
      const items = days.flatMap(({ at, rows }) =>
        rows.map(({ asset, wallet, payments, receivedBase, appliedBase }) => {
          const { symbol, network, decimals } = money.catalog.asset(asset)
          const units = (base: bigint) => formatUnits(base, decimals)
          return {
            ...{ day: new Date(at).toISOString().slice(0, 10), asset, symbol, network },
            networkName: money.networkName(network),
            wallet:
              wallet === null
                ? null
                : { id: wallet.id, family: wallet.family, kind: wallet.kind, createdAt: wallet.createdAt },
            ...{ payments, received: units(receivedBase), receivedBase: receivedBase.toString() },
            applied: units(appliedBase),
            notApplied: receivedBase === appliedBase ? null : units(receivedBase - appliedBase),
          }
        }),
      )
      return { items, nextCursor: next === null ? null : String(next) }
    }),
})
