import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { assembleMaintenance } from './assemble.ts'

/**
 * Runs the scheduled jobs of the installation, each in one process at a time, and resends requested events
 * (recoveries). No payment and no webhook waits for it.
 */
export const start: StartService = async (context) => {
  const parts = openParts(context)
  const auditKeys = createAuditKeys(context.config.secrets.masterKey)
  const stop = assembleMaintenance({ ...parts, auditKeys, auditMarks: context.signals.createAuditMarks() })
  return async () => {
    await stop()
    await parts.notifier.close()
  }
}
