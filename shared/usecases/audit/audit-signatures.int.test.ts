import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AuditHeadMark } from '#shared/contracts/audit-progress.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditParts, memoryMarks } from '#test/support/audit-parts.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { CHECKPOINT_ACTION, extendAuditChain } from './audit-chain.ts'
import { CHAIN_START, chainHash, signedText } from './audit-chain-text.ts'
import { verifyAudit } from './verify-audit.ts'

const stores = useStores()
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number; hash?: string }>('audit_log')
const facts = () => stores.db.connection.collection<{ _id: string; value?: string }>('installation')
const chain = () => createAuditChainRepository(stores.db)
const master = (byte: number) => new Uint8Array(32).fill(byte)
const PRESENT = createAuditKeys(master(1))
const NEXT = createAuditKeys([master(2), master(1)])
const NEXT_ALONE = createAuditKeys(master(2))

const row = (n: number, change: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{
    id: `row-${String(n).padStart(3, '0')}`,
    at: 1_800_000_000_000 + n,
    actor: 'cli:ada',
    action: 'golive.master_key_stated',
  },
  ...{ subject: `thing-${n}`, workspaceId: null, mode: null, detail: { n } },
  ...change,
})
const insert = (from: number, to: number) =>
  createAuditRepository(stores.db).insertMany(Array.from({ length: to - from + 1 }, (_, index) => row(from + index)))
let marks = memoryMarks()
const parts = (keys: AuditKeys = PRESENT) => auditParts(stores, keys, marks)
const extend = (keys: AuditKeys = PRESENT) => extendAuditChain(parts(keys), () => false)
const verify = (keys: AuditKeys = PRESENT, since: AuditHeadMark | null = null) =>
  verifyAudit(parts(keys), { since, onProgress: () => undefined })
const signed = async (count: number) => {
  await insert(1, count)
  await extend()
}
/** Somebody who can write to the store, and knows how hashes are made: rewrites a row and every hash from there on. */
async function rewrite(from: number, change: Partial<AuditRecord>): Promise<void> {
  const [stored, before] = [await chain().listChained(null, 1_000), from - 2]
  let prevHash = stored[before]?.hash ?? CHAIN_START
  for (const { seq, record } of stored.slice(from - 1)) {
    const next = seq === from ? { ...record, ...change } : record
    const hash = chainHash(seq, prevHash, next)
    await rows().updateOne({ seq }, { $set: { ...(seq === from && change), prevHash, hash } })
    prevHash = hash
  }
}

beforeEach(async () => {
  await rows().deleteMany({})
  await facts().deleteMany({ _id: { $in: ['audit-head', 'audit-breaks'] } })
  marks = memoryMarks()
})

// Guarantee: who can write to the store and has no key cannot change what the trail says.
describe('somebody with the store alone', () => {
  it('cannot rewrite a row and every hash behind it', async () => {
    await signed(6)
    await rewrite(3, { actor: 'cli:eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'forged', seq: 3 })
    await insert(7, 7)
    await expect(extend()).rejects.toThrow(/was signed as (its|the) end/)
  })

  it('cannot sign with their own key, under our key’s name or another', async () => {
    await signed(4)
    const eve = createAuditKeys(master(66))
    await rewrite(2, { actor: 'cli:eve' })
    const stored = await chain().listChained(null, 10)
    for (const keyId of [PRESENT.keyId, eve.keyId]) {
      for (const { seq, hash } of stored) {
        const mac = eve.mac(eve.keyId, signedText('row', { seq, hash }))
        if (seq >= 2) await rows().updateOne({ seq }, { $set: { keyId, mac } })
      }
      const end = stored[3]
      const head = {
        seq: 4,
        hash: end?.hash ?? '',
        keyId,
        mac: eve.mac(eve.keyId, signedText('head', { seq: 4, hash: end?.hash ?? '' })),
      }
      await facts().updateOne({ _id: 'audit-head' }, { $set: { value: JSON.stringify(head) } })
      expect((await verify()).intact).toBe(false)
      await expect(extend()).rejects.toThrow(/not known here|was changed/)
    }
  })

  // Guarantee: there never was a row without a signature, so a rewritten log without any is no log of an earlier version.
  it('cannot take the signatures off, with or without the record of the end and the mark', async () => {
    await signed(4)
    await rows().updateOne({ seq: 2 }, { $unset: { mac: '' } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 2 })
    await rewrite(2, { actor: 'cli:eve' })
    await rows().updateMany({}, { $unset: { mac: '', keyId: '' } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 1 })
    await facts().deleteMany({ _id: { $in: ['audit-head', 'audit-verified'] } })
    marks.at = null
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 1 })
    await insert(5, 5)
    await expect(extend()).rejects.toThrow('the signed end of the audit log is missing')
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 1 })
  })

  it('cannot cut the end off, with or without the record of it', async () => {
    await signed(5)
    const before = await facts().findOne({ _id: 'audit-head' })
    await rows().deleteMany({ seq: { $gt: 3 } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
    const [, , third] = await chain().listChained(null, 3)
    const moved = { seq: 3, hash: third?.hash, keyId: third?.keyId, mac: third?.mac }
    await facts().updateOne({ _id: 'audit-head' }, { $set: { value: JSON.stringify(moved) } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'forged', seq: 3 })
    await facts().deleteMany({ _id: 'audit-head' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut' })
    await expect(extend()).rejects.toThrow('the signed end of the audit log is missing')
    expect(before).not.toBeNull()
  })

  it('cannot move or remove a checkpoint', async () => {
    await signed(3)
    await insert(4, 5)
    await extend(NEXT)
    const checkpoint = await rows().findOne({ action: CHECKPOINT_ACTION })
    expect(checkpoint).toMatchObject({ seq: 4, detail: { last: 3, key_before: PRESENT.keyId } })
    await rows().deleteOne({ seq: 4 })
    expect((await verify(NEXT)).firstBreak).toMatchObject({ kind: 'removed', seq: 4 })
    await rows().insertOne({ ...checkpoint, _id: checkpoint?._id ?? '', seq: 99 })
    expect((await verify(NEXT)).intact).toBe(false)
    await rows().deleteMany({ seq: { $gt: 3 } })
    expect((await verify(NEXT)).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
    await expect(extend(NEXT)).rejects.toThrow(/was signed as its end/)
  })

  // Guarantee: putting the signed documents back hides no row that was cut off, although everything in the store fits together.
  it('cannot cut rows off and put an earlier signed end back: the mark outside of the store is above it', async () => {
    await signed(3)
    const earlier = await facts().findOne({ _id: 'audit-head' })
    await insert(4, 6)
    await extend()
    await rows().deleteMany({ seq: { $gt: 3 } })
    await facts().updateOne({ _id: 'audit-head' }, { $set: { value: earlier?.value ?? '' } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
    await insert(7, 9)
    await expect(extend()).rejects.toThrow('number 6 was recorded outside of the store')
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
  })

  it('cannot remove the whole log', async () => {
    await signed(3)
    await rows().deleteMany({})
    await facts().deleteMany({ _id: 'audit-head' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 1 })
    await insert(4, 4)
    await expect(extend()).rejects.toThrow('number 3 was recorded outside of the store')
  })

  it('cannot leave rows out by a gap of numbers that fits', async () => {
    await signed(5)
    const [, second, , fourth] = await chain().listChained(null, 5)
    await rows().deleteOne({ seq: 3 })
    if (second === undefined || fourth === undefined) throw new Error('rows are missing')
    const hash = chainHash(4, second.hash, fourth.record)
    await rows().updateOne({ seq: 4 }, { $set: { prevHash: second.hash, hash } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'forged', seq: 4 })
  })

  // The limit: store and mark that are put back together are sound within. Only what is kept elsewhere shows it.
  it('who puts the whole store and the mark back to an earlier state is seen by an end that was recorded elsewhere', async () => {
    await signed(3)
    const earlier = await facts().findOne({ _id: 'audit-head' })
    await insert(4, 6)
    await extend()
    const { head } = await verify()
    await rows().deleteMany({ seq: { $gt: 3 } })
    await facts().updateOne({ _id: 'audit-head' }, { $set: { value: earlier?.value ?? '' } })
    marks.at = 3
    expect((await verify()).intact).toBe(true)
    expect((await verify(PRESENT, head)).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
  })

  it('no single change of a stored row or of the signed end goes unseen', async () => {
    await signed(8)
    const before = await rows().find().toArray()
    const end = await facts().findOne({ _id: 'audit-head' })
    const change = fc.constantFrom(
      { $set: { actor: 'cli:eve' } },
      { $set: { 'detail.n': -1 } },
      { $set: { mac: '0'.repeat(64) } },
      { $unset: { mac: '' } },
      { $set: { hash: '0'.repeat(64) } },
      { $set: { keyId: 'another' } },
      { $set: { seq: 77 } },
      { $unset: { hash: '' } },
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), change, fc.boolean(), async (seq, update, hides) => {
        await rows().updateOne({ seq }, update)
        if (hides) await facts().deleteMany({ _id: 'audit-head' })
        const { intact } = await verify()
        await rows().deleteMany({})
        await rows().insertMany(before)
        await facts().replaceOne({ _id: 'audit-head' }, end ?? {}, { upsert: true })
        // A signature under a name that nobody knows: the rows behind vouch for the row, which is as it was.
        const isHarmless = JSON.stringify(update).includes('keyId') && seq < 8 && !hides
        expect(intact).toBe(isHarmless)
      }),
      { numRuns: EVERY_CASE ? 60 : 16 },
    )
  })
})

describe('many writers at once', () => {
  it('make one checkpoint', async () => {
    await signed(4)
    await insert(5, 8)
    await Promise.all(Array.from({ length: 4 }, () => extend(NEXT)))
    await extend(NEXT)
    expect(await rows().countDocuments({ action: CHECKPOINT_ACTION })).toBe(1)
    expect(await verify(NEXT)).toMatchObject({ intact: true, checked: 9, unchained: { waiting: 0 } })
  })

  // Guarantee: two maintenance processes raise no alarm about a log that nobody touched.
  it.each(['head', 'tail'] as const)(
    'are not taken for a break when another one goes on right after the %s is read',
    async (read) => {
      await signed(4)
      await insert(5, 6)
      const real = chain()
      let isFirst = true
      const beside = async () => {
        if (isFirst) {
          isFirst = false
          await extend()
        }
      }
      const slow = {
        ...real,
        head: async () => {
          const head = await real.head()
          if (read === 'head') await beside()
          return head
        },
        tail: async () => {
          const tail = await real.tail()
          if (read === 'tail') await beside()
          return tail
        },
      }
      await extendAuditChain({ ...parts(), auditChain: slow }, () => false)
      expect(await verify()).toMatchObject({ intact: true, checked: 6, unchained: { waiting: 0 } })
    },
  )
})

describe('a change of the master key', () => {
  // Guarantee: rows under a key that was dropped stay vouched for by the checkpoint behind them.
  it('is a checkpoint under the next key, and the former key can then go', async () => {
    await signed(3)
    expect(await extend(NEXT)).toBe(1)
    await insert(4, 4)
    await extend(NEXT)
    expect(await verify(NEXT)).toMatchObject({ intact: true, checked: 5, underFormerKeys: 0 })
    expect(await verify(NEXT_ALONE)).toMatchObject({ intact: true, checked: 5, underFormerKeys: 3 })
    expect((await verify(PRESENT)).firstBreak).toMatchObject({ kind: 'unknown_key', seq: 4 })
    await rewrite(2, { actor: 'cli:eve' })
    expect((await verify(NEXT_ALONE)).firstBreak).toMatchObject({ kind: 'forged', seq: 4 })
  })

  it('waits while the key that signed the end is not known, and says which it is', async () => {
    await signed(3)
    await insert(4, 4)
    await expect(extend(NEXT_ALONE)).rejects.toThrow(`signed under master key ${PRESENT.keyId}`)
    expect((await verify(NEXT_ALONE)).firstBreak).toMatchObject({ kind: 'unknown_key', seq: 1 })
    expect(await extend(NEXT)).toBe(2)
  })
})

// Guarantee: a writer that dies leaves a step as a whole or nothing of it.
it('a step that cannot be stored leaves neither its checkpoint nor its end', async () => {
  await signed(2)
  const before = await chain().head()
  await insert(3, 3)
  const dying = {
    ...chain(),
    append: async (step: Parameters<ReturnType<typeof chain>['append']>[0]) => {
      await rows().deleteOne({ _id: 'row-003' })
      return await chain().append(step)
    },
  }
  expect(await extendAuditChain({ ...parts(NEXT), auditChain: dying }, () => false)).toBe(0)
  expect([await chain().head(), (await chain().tail())?.seq]).toEqual([before, 2])
  expect(await rows().countDocuments({ action: CHECKPOINT_ACTION })).toBe(0)
  expect(await extend(NEXT)).toBe(1)
  expect(await verify(NEXT)).toMatchObject({ intact: true, checked: 3 })
})
