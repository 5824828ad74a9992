import { z } from 'zod'
import { auditProgress } from '#shared/contracts/audit-progress.ts'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { AuditFilter } from '#shared/ports/audit.ts'
import { readVerification } from '#shared/usecases/audit/verify-in-parts.ts'
import type { AdminDeps } from '../assemble.ts'
import { operatorQuery, router, workspaceQuery } from '../trpc.ts'
import { timeInput } from '../wire/list-filters.ts'
import { placeCursor, placeOf } from '../wire/place-cursor.ts'

const narrowing = z.object({
  subject: trimmedText(200).min(1).optional(),
  actor: trimmedText(200).min(1).optional(),
  from: timeInput.optional(),
  /** Not included. */
  until: timeInput.optional(),
  cursor: boundedText(400).nullish(),
  limit: z.int().min(1).max(100).default(50),
})

const page = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      at: z.number(),
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      workspaceId: z.string().nullable(),
      mode: z.enum(MODES).nullable(),
      detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
      /** Number in the chain; null until the row is chained, which takes seconds. */
      seq: z.number().nullable(),
    }),
  ),
  nextCursor: z.string().nullable(),
})

/** The audit log: who did what, and whether it is unchanged. */
export const auditRouter = router({
  /** Of one workspace, both modes, newest first. */
  list: workspaceQuery('admin')
    .input(narrowing)
    .output(page)
    .query(async ({ ctx: { deps, workspace }, input }) => await read(deps, workspace.id, input)),

  /** Of the whole installation, newest first. */
  listAll: operatorQuery()
    .input(narrowing)
    .output(page)
    .query(async ({ ctx: { deps }, input }) => await read(deps, null, input)),

  /** How far the chain is verified. With the checksum of an earlier end, truncation is detected too. */
  verify: operatorQuery()
    .input(
      z.object({
        since: z.strictObject({ seq: z.int().min(1), hash: boundedText(64).regex(/^[0-9a-f]{64}$/) }).nullish(),
      }),
    )
    .output(auditProgress)
    .query(async ({ ctx: { deps }, input }) => await readVerification(deps, input.since ?? null)),
})

async function read(
  { auditSearch }: Pick<AdminDeps, 'auditSearch'>,
  workspaceId: string | null,
  { cursor, limit, ...rest }: z.output<typeof narrowing>,
): Promise<z.output<typeof page>> {
  const filter: AuditFilter = { ...rest, workspaceId }
  const rows = await auditSearch.search(filter, placeOf(cursor), limit + 1)
  const items = rows.slice(0, limit).map((row) => ({ ...row, detail: { ...row.detail } }))
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? placeCursor(last) : null }
}

/** A position is not secret: the filter decides which rows are visible after it. */
