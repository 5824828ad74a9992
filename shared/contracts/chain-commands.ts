import { z } from 'zod'

/** Requests that an operator can make to a scanner. */
export const CHAIN_COMMAND_KINDS = ['rescan', 'rewind', 'resume', 'skip'] as const
export type ChainCommandKind = (typeof CHAIN_COMMAND_KINDS)[number]

/** A request to a scanner as people see it. Times are Unix milliseconds. */
export const chainCommandWire = z.object({
  id: z.string(),
  kind: z.enum(CHAIN_COMMAND_KINDS),
  from: z.number().nullable(),
  to: z.number().nullable(),
  /** Rescan: next block to read; everything below it is stored. */
  nextHeight: z.number().nullable(),
  /** Rescan: payments found again or changed so far. */
  changed: z.number(),
  status: z.enum(['open', 'done', 'refused', 'cancelled']),
  /** One sentence about its result; null while open. */
  outcome: z.string().nullable(),
  requestedBy: z.string(),
  requestedAt: z.number(),
})

/** The effect that a request will have. */
export const chainPlan = z.object({
  /** The scanner's position and status. */
  height: z.number(),
  status: z.enum(['live', 'catchup', 'halted']),
  /** Blocks that will be read again; both null for `resume` and `skip`, where only the scanner can find them. */
  from: z.number().nullable(),
  to: z.number().nullable(),
  /** Live payments in these blocks now. */
  livePayments: z.number(),
  confirmedPayments: z.number(),
})

/** What a request to a scanner will do. */
export type ChainPlan = z.infer<typeof chainPlan>

/**
 * The effect on a payment of reading a block again. `added`: it is not stored; `returned`: it was gone and is in the chain again; `moved`:
 * it is in another block than stored; `other_amount`: its transaction moves another amount in this block, or to another receiver, or another token; `replaced`:
 * another transaction spends its money; `taken_back`: its block is gone, and none of these contains it; `contradicts`: the
 * same block shows something else than stored: the scanner would refuse it and stop there.
 */
const effect = z.enum(['added', 'returned', 'moved', 'other_amount', 'replaced', 'taken_back', 'contradicts'])

/** What reading a block again does to a payment. */
export type RescanEffect = z.infer<typeof effect>

/** Changes that reading blocks again would make, as the node shows them now. */
export const rescanPreview = z.object({
  blocks: z.number(),
  /** Stored payments that match exactly. */
  known: z.number(),
  effects: z.partialRecord(effect, z.number()),
  /** The first 200. */
  changes: z.array(
    z.object({
      effect,
      /** Stable key of the payment. */
      key: z.string(),
      height: z.number().nullable(),
      /** With its asset; base units for a token without a known asset. */
      amount: z.string(),
      /** The invoice it belongs or would belong to; null means an exception. */
      invoiceId: z.string().nullable(),
      txHash: z.string().nullable(),
    }),
  ),
})

/** The changes of a rescan or a rewind. */
export type RescanPreview = z.infer<typeof rescanPreview>
