import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createRecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditMarks } from '#shared/ports/audit-marks.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { useStores } from './stores.ts'

/** An audit row of a test. */
export const auditRow = (id: string): AuditRecord => ({
  ...{ id, at: 1_800_000_000_000, actor: 'test', action: 'golive.master_key_stated', subject: 'thing' },
  ...{ workspaceId: null, mode: null, detail: {} },
})

/** A mark outside of the store that a test can lose; `at` is its number. */
export function memoryMarks(): AuditMarks & { at: number | null } {
  const marks = {
    at: null as number | null,
    highest: () => Promise.resolve(marks.at),
    raise: (seq: number) => {
      marks.at = Math.max(marks.at ?? 0, seq)
      return Promise.resolve()
    },
  }
  return marks
}

/** Everything that the chain's writer and its verifiers need, on the stores of a test. */
export function auditParts(
  stores: Pick<ReturnType<typeof useStores>, 'db' | 'runtime'>,
  keys: AuditKeys,
  marks: AuditMarks = memoryMarks(),
  clock: Clock = stores.runtime.clock,
) {
  const auditChain = createAuditChainRepository(stores.db)
  const recordedDocuments = createRecordedDocuments(stores.db)
  return { auditChain, auditKeys: keys, auditMarks: marks, clock, recordedDocuments }
}
