import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createMarkKeeper } from '#shared/usecases/marks/keep-marks.ts'

/**
 * Makes of seeded rows what `maintenance` and the keeper of the marks leave behind in an installation that works: each row of the audit log has its
 * signed place, and `marksDir` says what was issued. A restore of the database then needs no `--skip`.
 */
export async function signSeed(db: Database, masterKey: Uint8Array, marksDir: string): Promise<void> {
  const places = { seq: '', prevHash: '', hash: '', keyId: '', mac: '' } as const
  await db.collection(AUDIT_LOG).updateMany({}, { $set: { waits: true }, $unset: places })
  const runtime = {
    clock: { now: Date.now },
    random: createRandom(Date.now),
    logger: createLogger({ name: 'bench', level: 'silent' }),
    metrics: createMetrics({ defaults: false }),
  }
  const repositories = createRepositories(db, runtime)
  const deps = {
    ...runtime,
    ...repositories,
    markPlaces: [createFolderMarkPlace(marksDir)],
    markKeys: createMarkKeys(masterKey),
  }
  await createMarkKeeper(deps).run()
  const audit = { ...deps, chain: repositories.auditChain, keys: createAuditKeys(masterKey) }
  await extendAuditChain({ ...audit, marks: createAuditMarks(audit) }, () => false)
  await createMarkKeeper(deps).run()
}
