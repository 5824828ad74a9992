import { z } from 'zod'
import { EXCEPTION_KINDS } from '#shared/domain/enumerations.ts'
import { type Decision, type DeskEntry, RESOLUTIONS } from '#shared/ports/exception-decisions.ts'
import { personOf } from './refund-wire.ts'

/** Which entry of the inbox. */
export const exceptionInput = z.object({ id: z.string().min(1).max(300) })

const decisionWire = z.object({
  by: z.string(),
  at: z.number(),
  resolution: z.enum(RESOLUTIONS),
  reason: z.string().nullable(),
})

/** An entry of the inbox. Times are milliseconds. */
export const exceptionWire = z.object({
  id: z.string(),
  kind: z.enum(EXCEPTION_KINDS),
  title: z.string(),
  sentence: z.string(),
  invoiceId: z.string().nullable(),
  openedAt: z.number(),
  closedAt: z.number().nullable(),
  /** Being decided by somebody this minute. */
  deciding: decisionWire.nullable(),
  /** Who decided it last; null for what closed by itself. */
  resolved: decisionWire.nullable(),
  notes: z.array(z.object({ by: z.string(), at: z.number(), text: z.string() })),
})
export type ExceptionWire = z.infer<typeof exceptionWire>

/** An entry as its operators see it. */
export function exceptionToWire(
  entry: DeskEntry,
  words: { readonly title: string; readonly sentence: string },
): ExceptionWire {
  return {
    id: entry.id,
    kind: entry.kind,
    ...words,
    invoiceId: entry.invoiceId,
    openedAt: entry.openedAt,
    closedAt: entry.closedAt,
    deciding: decisionToWire(entry.deciding),
    resolved: decisionToWire(entry.resolved),
    notes: entry.notes.map(({ by, at, text }) => ({ by: personOf(by), at, text })),
  }
}

function decisionToWire(decision: Decision | null): z.infer<typeof decisionWire> | null {
  if (decision === null) return null
  const { by, at, resolution, reason } = decision
  return { by: personOf(by), at, resolution, reason }
}
