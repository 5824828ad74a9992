import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { WALLET_KINDS } from '#shared/ports/key-material.ts'
import { signedUnits } from '#shared/usecases/reports/book-cells.ts'
import { readSettlements } from '#shared/usecases/reports/read-settlements.ts'
import { zoneOf } from '#shared/usecases/workspaces/zone-of.ts'
import { router, workspaceQuery } from '../trpc.ts'
import { periodFilters } from '../wire/list-filters.ts'
import { pageInput } from '../wire/money-wire.ts'

const rowWire = z.object({
  /** `2026-11-19`, in the workspace's time zone. */
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
  /** Received above the price, received and applied to no invoice, and refunded, in units of the asset; null when nothing was. */
  excess: z.string().nullable(),
  notApplied: z.string().nullable(),
  refunded: z.string().nullable(),
})

/** Settlements: what arrived at each wallet, per day and coin. */
export const settlementsRouter = router({
  list: workspaceQuery('viewer')
    .input(
      z.object({
        ...periodFilters,
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
      const zone = zoneOf(ctx.workspace)
      const scope = { workspaceId, mode, from, to: until === Number.MAX_SAFE_INTEGER ? null : until, zone }
      const { days, next } = await readSettlements(money, scope, limit)
      const items = days.flatMap(({ day, rows }) =>
        rows.map(({ asset, wallet, payments, receivedBase, appliedBase, excessBase, refundedBase }) => {
          const { symbol, network, decimals } = money.catalog.asset(asset)
          const units = (base: bigint) => signedUnits(base, decimals)
          const orNone = (base: bigint) => (base === 0n ? null : units(base))
          return {
            ...{ day, asset, symbol, network },
            networkName: money.networkName(network),
            wallet,
            ...{ payments, received: units(receivedBase), receivedBase: receivedBase.toString() },
            applied: units(appliedBase),
            ...{ excess: orNone(excessBase), notApplied: orNone(receivedBase - appliedBase - excessBase) },
            refunded: orNone(refundedBase),
          }
        }),
      )
      return { items, nextCursor: next === null ? null : String(next) }
    }),
})
