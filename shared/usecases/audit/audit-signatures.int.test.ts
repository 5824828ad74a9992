import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { CHAIN_START, CHECKPOINT_ACTION, chainHash, extendAuditChain, signedText } from './audit-chain.ts'
import { type AuditHeadMark, verifyAudit } from './verify-audit.ts'

const stores = useStores()
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number; hash?: string }>('audit_log')
const facts = () => stores.db.connection.collection<{ _id: string; value?: string }>('installation')
const chain = () => createAuditChainRepository(stores.db)
const master = (byte: number) => new Uint8Array(32).fill(byte)
const PRESENT = createAuditKeys(master(1))
const NEXT = createAuditKeys([master(2), master(1)])
const NEXT_ALONE = createAuditKeys(master(2))

const row = (n: number, change: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ id: `row-${String(n).padStart(3, '0')}`, at: 1_800_000_000_000 + n, actor: 'cli:ada', action: 'thing.done' },
  ...{ subject: `thing-${n}`, workspaceId: null, mode: null, detail: { n } },
  ...change,
})
const insert = (from: number, to: number) =>
  createAuditRepository(stores.db).insertMany(Array.from({ length: to - from + 1 }, (_, index) => row(from + index)))
const extend = (keys: AuditKeys = PRESENT) =>
  extendAuditChain({ chain: chain(), keys, clock: stores.runtime.clock }, () => false)
const verify = (keys: AuditKeys = PRESENT, since: AuditHeadMark | null = null) =>
  verifyAudit({ chain: chain(), keys }, { since, onProgress: () => undefined })
const signed = async (count: number) => {
  await insert(1, count)
  await extend()
}
/** What a version without keys leaves: places and hashes, no signatures, no signed end. */
async function chainedWithoutKeys(count: number): Promise<void> {
  await insert(1, count)
  let prevHash = CHAIN_START
  for (let seq = 1; seq <= count; seq += 1) {
    const hash = chainHash(seq, prevHash, row(seq))
    await rows().updateOne({ _id: row(seq).id }, { $set: { seq, prevHash, hash }, $unset: { waits: '' } })
    prevHash = hash
  }
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
  await facts().deleteMany({ _id: 'audit-head' })
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

  it('cannot sign with a key of their own, under our key’s name or another', async () => {
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

  it('cannot take the signatures off', async () => {
    await signed(4)
    await rows().updateMany({}, { $unset: { mac: '', keyId: '' } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned' })
    await rewrite(2, { actor: 'cli:eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
    await expect(extend()).rejects.toThrow(/was signed as (its|the) end/)
    await facts().deleteMany({ _id: 'audit-head' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned' })
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
    await expect(extend()).rejects.toThrow('the signed end of the chain is gone')
    expect(before).not.toBeNull()
  })

  it('cannot move or remove the checkpoint', async () => {
    await chainedWithoutKeys(3)
    await insert(4, 5)
    await extend()
    expect((await verify()).signedFrom).toBe(4)
    const checkpoint = await rows().findOne({ action: CHECKPOINT_ACTION })
    await rows().deleteOne({ seq: 4 })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'removed', seq: 4 })
    await rows().insertOne({ ...checkpoint, _id: checkpoint?._id ?? '', seq: 99 })
    expect((await verify()).intact).toBe(false)
    await rows().deleteMany({ seq: { $gt: 3 } })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 4 })
    await expect(extend()).rejects.toThrow(/was signed as (its|the) end/)
  })

  // The limit: a store that is put back to an earlier state is sound within. Only what is kept elsewhere shows it.
  it('who puts the whole store back to an earlier state is seen by an end that was recorded elsewhere', async () => {
    await signed(3)
    const earlier = await facts().findOne({ _id: 'audit-head' })
    await insert(4, 6)
    await extend()
    const { head } = await verify()
    await rows().deleteMany({ seq: { $gt: 3 } })
    await facts().updateOne({ _id: 'audit-head' }, { $set: { value: earlier?.value ?? '' } })
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
        // A signature that is gone, or under a name that nobody knows: the rows behind vouch for the row, which is as it was.
        const isUnsigned =
          JSON.stringify(update).includes('keyId') || JSON.stringify(update) === '{"$unset":{"mac":""}}'
        const isHarmless = isUnsigned && seq < 8 && !hides
        expect(intact).toBe(isHarmless)
      }),
      { numRuns: EVERY_CASE ? 60 : 16 },
    )
  })
})

describe('a trail of a version without keys', () => {
  // Guarantee: the trail of the version before goes on, and what it says is fixed from the first signed row on.
  it('goes on behind a checkpoint that vouches for all of it', async () => {
    await chainedWithoutKeys(4)
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned' })
    expect(await extend()).toBe(1)
    await insert(5, 6)
    expect(await extend()).toBe(2)
    expect(await verify()).toMatchObject({ intact: true, checked: 7, signedFrom: 5, underFormerKeys: 0 })
    const checkpoint = await rows().findOne({ action: CHECKPOINT_ACTION })
    const fourth = await rows().findOne({ seq: 4 })
    expect(checkpoint).toMatchObject({ seq: 5, detail: { last: 4, hash: fourth?.hash, key_before: 'none' } })

    await rewrite(2, { actor: 'cli:eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'forged', seq: 5 })
  })

  // Guarantee: while processes of two versions run, or after going back a version, the trail goes on.
  it('goes on behind rows that the version before added to a signed trail, and signs them', async () => {
    await signed(2)
    await insert(3, 4)
    for (const [seq, n] of [
      [3, 3],
      [4, 4],
    ] as const) {
      const prevHash = (await rows().findOne({ seq: seq - 1 }))?.hash ?? ''
      const set = { seq, prevHash, hash: chainHash(seq, prevHash, row(n)) }
      await rows().updateOne({ _id: row(n).id }, { $set: set, $unset: { waits: '' } })
    }
    expect((await verify()).firstBreak).toMatchObject({ kind: 'unsigned', seq: 4 })
    expect(await extend()).toBe(1)
    expect(await verify()).toMatchObject({ intact: true, checked: 5, signedFrom: 1 })
    await rewrite(4, { actor: 'cli:eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'cut', seq: 5 })
  })

  it('gets one checkpoint from many writers at once', async () => {
    await chainedWithoutKeys(4)
    await insert(5, 8)
    await Promise.all(Array.from({ length: 4 }, () => extend()))
    await extend()
    expect(await rows().countDocuments({ action: CHECKPOINT_ACTION })).toBe(1)
    expect(await verify()).toMatchObject({ intact: true, checked: 9, unchained: { waiting: 0 } })
  })

  // Guarantee: an upgrade with two maintenance processes raises no alarm about a log that nobody touched.
  it.each(['head', 'tail'] as const)(
    'is not taken for broken when another writer signs it right after the %s is read',
    async (read) => {
      await chainedWithoutKeys(4)
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
      await extendAuditChain({ chain: slow, keys: PRESENT, clock: stores.runtime.clock }, () => false)
      expect(await rows().countDocuments({ action: CHECKPOINT_ACTION })).toBe(1)
      expect(await verify()).toMatchObject({ intact: true, checked: 7, unchained: { waiting: 0 } })
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
  await chainedWithoutKeys(2)
  await insert(3, 3)
  const dying = {
    ...chain(),
    append: async (step: Parameters<ReturnType<typeof chain>['append']>[0]) => {
      await rows().deleteOne({ _id: 'row-003' })
      return await chain().append(step)
    },
  }
  const deps = { chain: dying, keys: PRESENT, clock: stores.runtime.clock }
  expect(await extendAuditChain(deps, () => false)).toBe(0)
  expect([await chain().head(), (await chain().tail())?.seq]).toEqual([null, 2])
  expect(await rows().countDocuments({ action: CHECKPOINT_ACTION })).toBe(0)
  expect(await extend()).toBe(1)
  expect(await verify()).toMatchObject({ intact: true, checked: 3, signedFrom: 3 })
})
