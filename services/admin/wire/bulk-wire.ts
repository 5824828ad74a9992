import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { BULK_MAX, BULK_RESOLUTIONS } from '#shared/usecases/exceptions/bulk-decision.ts'

/** Ids of exceptions that are decided together. */
export const bulkInput = z.object({ ids: z.array(boundedText(300).min(1)).min(1).max(BULK_MAX) })

const refusedWire = z.array(z.object({ id: z.string(), message: z.string() }))

/** What each decision would do; every id is possible or refused. */
export const bulkPreviewWire = z.object({
  rows: z.array(z.object({ id: z.string(), title: z.string(), number: z.number().nullable() })),
  decisions: z.array(
    z.object({
      resolution: z.enum(BULK_RESOLUTIONS),
      possible: z.array(z.string()),
      refused: refusedWire,
      needCode: z.number(),
      sums: z.array(z.object({ symbol: z.string(), networkName: z.string(), amount: z.string(), count: z.number() })),
    }),
  ),
})

/** What a bulk decision did; every id is in one of the lists. */
export const bulkResultWire = z.object({ done: z.array(z.string()), refused: refusedWire })
