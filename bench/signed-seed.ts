import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import { endpointSecretContext, keyMaterialContext } from '#shared/ports/secrets.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createMarkKeeper } from '#shared/usecases/marks/keep-marks.ts'
import { MATERIAL } from '#test/growth/facts.ts'

/** BIP 32, test vector 1, chain m. */
const XPUB =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'

/**
 * Makes of seeded rows what `maintenance` and the keeper of the marks leave behind in an installation that works: each row of the audit log has its
 * signed place, and `marksDir` says what was issued; and its secrets are sealed. A back-up of the database is verified, and a restore of it needs no `--skip`.
 */
export async function signSeed(db: Database, masterKey: Uint8Array, marksDir: string): Promise<void> {
  await sealSecrets(db, masterKey)
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
  const audit = { ...deps, auditKeys: createAuditKeys(masterKey) }
  await extendAuditChain({ ...audit, auditMarks: createAuditMarks(audit) }, () => false)
  await createMarkKeeper(deps).run()
}

async function sealSecrets(db: Database, masterKey: Uint8Array): Promise<void> {
  const box = createSecretBox(masterKey)
  for await (const { _id } of db.collection(WEBHOOK_ENDPOINTS).find({}, { projection: { _id: 1 } })) {
    const sealedSecrets = [box.seal('whsec_of_the_bench', endpointSecretContext(_id))]
    await db.collection(WEBHOOK_ENDPOINTS).updateOne({ _id }, { $set: { sealedSecrets } })
  }
  const sealed = box.seal(XPUB, keyMaterialContext(MATERIAL))
  await db.collection(KEY_MATERIAL).updateOne({ _id: MATERIAL }, { $set: { sealed } })
}
