import type { Mode } from '#shared/domain/enumerations.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { ExportRecords } from '#shared/ports/exports.ts'
import type { Clock } from '#shared/ports/runtime.ts'

/** What recording an export needs. */
export interface RecordExportDeps {
  readonly clock: Clock
  readonly exports: ExportRecords
}

/** Who takes which data along. */
export interface ExportRequest {
  /** Unlike that of any other request. */
  readonly requestId: string
  readonly actor: string
  readonly workspaceId: string
  readonly mode: Mode
  /** What the file holds: `invoices`. */
  readonly what: string
  /** What it was narrowed by. Texts that people typed are left out of the audit trail: they may be personal data. */
  readonly filters: Readonly<Record<string, string | number | boolean | null>>
}

/**
 * The parts of an exported file, with a row in the audit trail before the first and one behind the last. The first row names the
 * filters; when it cannot be stored, nothing leaves. The second says how many rows were handed over, at most so many arrived, and
 * whether the file is complete; when it cannot be stored the file breaks off. `open` receives what to call with the number of
 * rows of each part before the part is handed over. After a crash the first row stands alone.
 */
export async function* recordedExport(
  { clock, exports }: RecordExportDeps,
  request: ExportRequest,
  open: (onRows: (count: number) => void) => AsyncIterable<string>,
): AsyncGenerator<string> {
  const { requestId, actor, workspaceId, mode, what, filters } = request
  const row = (action: string, detail: AuditRecord['detail']): AuditRecord => ({
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
