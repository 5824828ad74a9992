import type { Mode } from '#shared/domain/enumerations.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Who exports which data. */
export interface ExportRequest {
  /** Unique to this request. */
  readonly requestId: string
  readonly actor: string
  readonly workspaceId: string
  readonly mode: Mode
  /** Kind of the file's content: `invoices`. */
  readonly what: string
  /** Filters of the export. Texts that people typed are left out of the audit log: they may be personal data. */
  readonly filters: Readonly<Record<string, string | number | boolean | null>>
}

/**
 * The parts of an exported file, with an audit row before the first and one after the last. The first row names the
 * filters; if it cannot be stored, nothing is sent. The second states how many rows were handed over (an upper bound of those received), and
 * whether the file is complete; if it cannot be stored, the file is cut off. `open` receives a callback for the number of
 * rows of each part, to be called before the part is handed over. After a crash only the first row exists.
 */
export async function* recordedExport(
  { clock, exports }: Uses<'clock' | 'exports'>,
  request: ExportRequest,
  open: (onRows: (count: number) => void) => AsyncIterable<string>,
): AsyncGenerator<string> {
  const { requestId, actor, workspaceId, mode, what, filters } = request
  const row = (action: 'export.started' | 'export.ended', detail: AuditRecord['detail']): AuditRecord => ({
    ...{ id: `${action}:${requestId}`, at: clock.now(), actor, action, subject: requestId, workspaceId, mode },
    detail: { what, ...detail },
  })
  await exports.record(row('export.started', filters))
  let rows = 0
  let complete = false
  try {
    yield* open((count) => {
      rows += count
    })
    complete = true
  } finally {
    await exports.record(row('export.ended', { rows, complete }))
  }
}
