import { beforeEach, expect, it } from 'vitest'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { useStores } from '#test/support/stores.ts'
import { auditVerificationJob } from './audit-verification-job.ts'

const stores = useStores()
const collection = (name: string) => stores.db.connection.collection<{ _id: string }>(name)
beforeEach(async () => {
  await collection('audit_log').deleteMany({})
  await collection('installation').deleteMany({ _id: { $in: ['audit-head', 'audit-verified'] } })
})

/** The job on a log of three signed rows, and the values of `audit_log_broken` that its runs set. */
async function jobOnThreeRows() {
  const chain = createAuditChainRepository(stores.db)
  const keys = createAuditKeys(new Uint8Array(32).fill(9))
  const shown: number[] = []
  const gauge = (name: string, value: number): void => {
    if (name === 'audit_log_broken') shown.push(value)
  }
  const deps = { ...stores.runtime, chain, keys, metrics: { ...stores.runtime.metrics, gauge } }
  await createAuditRepository(stores.db).insertMany(
    [1, 2, 3].map((at) => ({
      ...{ id: `row-${at}`, at, actor: 'a', action: 'b', subject: 'c', workspaceId: null, mode: null, detail: {} },
    })),
  )
  await extendAuditChain(deps, () => false)
  const job = auditVerificationJob(deps)
  const run = () => job.round(new AbortController().signal, undefined)
  const removeSignatures = async (): Promise<void> => {
    await collection('audit_log').updateMany({}, { $unset: { mac: '', keyId: '' } })
    await collection('installation').deleteMany({ _id: 'audit-head' })
  }
  return {
    run,
    shown,
    removeSignatures,
    sign: () => extendAuditChain(deps, () => false),
    rows: collection('audit_log'),
  }
}

// Guarantee: an upgrade from a version without signatures does not wake anybody.
it('does not report rows that the next minute signs', async () => {
  const { run, shown, removeSignatures, sign } = await jobOnThreeRows()
  await removeSignatures()
  await run()
  await sign()
  await run()
  await run()
  expect(shown).toEqual([0, 0, 0])
})

// Guarantee: removing the signatures is noticed, at the latest one run later.
it('reports rows that stay without a signature', async () => {
  const { run, shown, removeSignatures } = await jobOnThreeRows()
  await removeSignatures()
  await run()
  await run()
  await run()
  expect(shown).toEqual([0, 1, 1])
})

it('reports at once that signatures of verified rows are gone', async () => {
  const { run, shown, removeSignatures } = await jobOnThreeRows()
  await run()
  await removeSignatures()
  await run()
  expect(shown).toEqual([0, 1])
})

it('reports a changed row in its first run', async () => {
  const { run, shown, rows } = await jobOnThreeRows()
  await rows.updateOne({ seq: 2 }, { $set: { actor: 'someone else' } })
  await run()
  expect(shown).toEqual([1])
})
