import { z } from 'zod'
import { FAMILIES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { GO_LIVE_KINDS, GO_LIVE_REASONS, GO_LIVE_STATES } from '#shared/domain/golive/go-live.ts'

const line = z.object({
  item: z.string(),
  kind: z.enum(GO_LIVE_KINDS),
  state: z.enum(GO_LIVE_STATES),
  /** When and by whom it was stated or begun; null for what is computed, and before. */
  at: z.number().nullable(),
  by: z.string().nullable(),
  /** Why it has not passed; null when it has, when nobody began it, and when it is out of date. */
  reason: z.enum(GO_LIVE_REASONS).nullable(),
  about: z.string(),
  walletId: z.string().nullable(),
  walletKind: z.enum(['xpub', 'pool', 'address']).nullable(),
  family: z.enum(FAMILIES).nullable(),
  /** Where the person's wallet shows the address to enter; null for listed addresses. */
  path: z.string().nullable(),
  network: z.enum(NETWORK_IDS).nullable(),
  /** Steps of a self-payment, as far as they were reached. */
  steps: z
    .object({
      invoiceId: z.string(),
      number: z.number(),
      seen: z.boolean(),
      confirming: z.boolean(),
      paid: z.boolean(),
      delivered: z.boolean(),
    })
    .nullable(),
})

/** The go-live check of a workspace and mode, as the dashboard and `paymesh go-live --json` show it. Ready: every item has passed. */
export const goLiveReport = z.object({ lines: z.array(line), passed: z.number(), isReady: z.boolean() })

/** One item, for people. */
export type GoLiveLine = z.infer<typeof line>

/** All items of a workspace and mode. */
export type GoLiveReport = z.infer<typeof goLiveReport>
