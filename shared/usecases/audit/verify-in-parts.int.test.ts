import { beforeEach, describe, expect, it } from 'vitest'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditParts, memoryMarks } from '#test/support/audit-parts.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { extendAuditChain } from './audit-chain.ts'
import { readVerification, type VerifyInPartsDeps, verifyNextPart } from './verify-in-parts.ts'

const WEEK_MS = 7 * 86_400_000
const stores = useStores()
const keys = createAuditKeys(new Uint8Array(32).fill(9))
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number }>('audit_log')
const facts = () => stores.db.connection.collection<{ _id: string }>('installation')
let now = 0
let marks = memoryMarks()
/** Rows that the chain was asked for, so that a test sees what is read again. */
let listed = 0

function deps(): VerifyInPartsDeps {
  const chain = createAuditChainRepository(stores.db)
  const listChained: typeof chain.listChained = async (after, limit) => {
    const found = await chain.listChained(after, limit)
    listed += found.length
    return found
  }
  return { ...auditParts(stores, keys, marks, { now: () => now }), auditChain: { ...chain, listChained } }
}

async function chained(from: number, to: number): Promise<void> {
  const records = Array.from({ length: to - from + 1 }, (_, index) => ({
    ...{
      id: `row-${from + index}`,
      at: from + index,
      actor: 'a',
      action: 'golive.master_key_stated' as const,
      subject: 'c',
    },
    ...{ workspaceId: null, mode: null, detail: {} },
  }))
  await createAuditRepository(stores.db).insertMany(records)
  await extendAuditChain({ ...deps(), auditChain: createAuditChainRepository(stores.db) }, () => false)
}
const part = (stop = false) => verifyNextPart(deps(), () => stop)
const state = (since: Parameters<typeof readVerification>[1] = null) => readVerification(deps(), since)

beforeEach(async () => {
  await rows().deleteMany({})
  await facts().deleteMany({ _id: /^audit-/ as never })
  now = 1_800_000_000_000
  marks = memoryMarks()
  listed = 0
})

describe('verifying in parts', () => {
  deepTest('goes on behind the last verified row, after any interruption', async () => {
    await chained(1, 2_500)
    expect(await part(true)).toMatchObject({ intact: true, complete: false, checked: 1_000, total: 2_500 })
    expect(await part(true)).toMatchObject({ complete: false, checked: 2_000 })
    expect(await part()).toMatchObject({ complete: true, checked: 2_500, head: { seq: 2_500 } })
    // Each part but the first reads the last verified row again.
    expect(listed).toBe(2_502)
    await chained(2_501, 2_510)
    listed = 0
    expect(await part()).toMatchObject({ complete: true, checked: 2_510 })
    expect(listed).toBe(11)
  })

  deepTest('begins at the first row once a week, because rows may be changed after they were verified', async () => {
    await chained(1, 30)
    await part()
    await rows().updateOne({ seq: 7 }, { $set: { actor: 'eve' } } as never)
    expect(await part()).toMatchObject({ intact: true, checked: 30 })
    now += WEEK_MS
    expect(await part()).toMatchObject({ intact: false, checked: 6, firstBreak: { kind: 'changed', seq: 7 } })
    expect(await state()).toMatchObject({ intact: false, firstBreak: { kind: 'changed', seq: 7 } })
  })

  // Guarantee: write access to the store is not enough to make rows count as verified.
  deepTest('believes no progress that this installation did not sign', async () => {
    await chained(1, 30)
    await part()
    const stored = await createAuditChainRepository(stores.db).verified()
    await rows().updateOne({ seq: 7 }, { $set: { actor: 'eve' } } as never)
    const forged = stored?.text.replace('"checked":30', '"checked":29') ?? ''
    expect(forged).toContain('"checked":29')
    const texts = [JSON.stringify({ ...stored, text: forged }), 'nonsense', '{}', JSON.stringify({ text: '{}' })]
    for (const value of texts) {
      await facts().updateOne({ _id: 'audit-verified' }, { $set: { value } } as never)
      expect(await part()).toMatchObject({ intact: false, firstBreak: { kind: 'changed', seq: 7 } })
    }
  })

  deepTest('shows a question how far the job is, walks a bounded part itself and stores nothing', async () => {
    await chained(1, 5_200)
    expect(await state()).toMatchObject({ complete: false, checked: 5_000, total: 5_200, startedAt: null })
    expect(await createAuditChainRepository(stores.db).verified()).toBeNull()
    await part(true)
    expect(await state()).toMatchObject({ complete: true, checked: 5_200, startedAt: now })
  })

  it('finds that a recorded row is gone although every row was verified before', async () => {
    await chained(1, 30)
    const { head } = await part()
    expect(await state(head)).toMatchObject({ intact: true })
    expect(await state({ seq: 30, hash: 'f'.repeat(64) })).toMatchObject({ intact: false, firstBreak: { kind: 'cut' } })
    expect(await state({ seq: 31, hash: 'f'.repeat(64) })).toMatchObject({ intact: false, firstBreak: { kind: 'cut' } })
  })

  deepTest('finds rows that were cut off behind the last verified one', async () => {
    await chained(1, 30)
    await part()
    await rows().deleteMany({ seq: { $gt: 20 } })
    expect(await state()).toMatchObject({ intact: false, firstBreak: { kind: 'cut' } })
  })
})
