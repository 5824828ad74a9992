import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createStoreRedundancy } from '#shared/db/maintenance/store-redundancy.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { assembleMaintenance } from './assemble.ts'

/**
 * Runs the scheduled jobs of the installation, each in one process at a time, and resends requested events
 * (recoveries). No payment and no webhook waits for it.
 */
export const start: StartService = async (context) => {
  const parts = openParts(context)
  const { masterKey } = context.config.secrets
  const marks = { ...parts, markPlaces: context.markPlaces, markKeys: createMarkKeys(masterKey) }
  // Without Redis this is the whole installation in one process, `paymesh serve`: no Prometheus watches it.
  const isAlone = context.config.env === 'production' && !context.config.reads('REDIS_URL')
  const stop = assembleMaintenance({
    ...parts,
    auditKeys: createAuditKeys(masterKey),
    auditMarks: createAuditMarks(marks),
    redundancy: isAlone ? createStoreRedundancy(context.db) : null,
  })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
