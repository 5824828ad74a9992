import { beforeEach, describe, expect, it } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { auditParts, auditRow, memoryMarks } from '#test/support/audit-parts.ts'
import { useStores } from '#test/support/stores.ts'
import { acknowledgeBreak, settleRestoredAudit } from './acknowledge-break.ts'
import { noticeBreak, readBreaks } from './audit-breaks.ts'
import { extendAuditChain } from './audit-chain.ts'
import { verifyAudit } from './verify-audit.ts'
import { verifyNextPart } from './verify-in-parts.ts'

const stores = useStores()
const master = (byte: number) => new Uint8Array(32).fill(byte)
const KEYS = createAuditKeys(master(1))
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number }>('audit_log')
const facts = () => stores.db.connection.collection<{ _id: string }>('installation')
let marks = memoryMarks()
const parts = (keys: AuditKeys = KEYS) => auditParts(stores, keys, marks)
const verify = (keys?: AuditKeys) => verifyAudit(parts(keys), { since: null, onProgress: () => undefined })
const acknowledge = (reason = 'known') => acknowledgeBreak(parts(), { actor: 'cli:ada', reason })
const extend = (keys?: AuditKeys) => extendAuditChain(parts(keys), () => false)
const tamper = async (seq: number, change: object) =>
  void (await rows().updateOne({ seq }, { $set: change }, { bypassDocumentValidation: true }))
let next = 1

async function chained(count: number): Promise<void> {
  await createAuditRepository(stores.db).insertMany(
    Array.from({ length: count }, () => ({ ...auditRow(`row-${String(next).padStart(3, '0')}`), at: next++ })),
  )
  await extend()
}

beforeEach(async () => {
  await rows().deleteMany({})
  await facts().deleteMany({ _id: { $regex: '^audit-' } as never })
  marks = memoryMarks()
  next = 1
})

// Guarantee: an answer accepts what stood there, and nothing that is changed afterwards.
describe('an answered break', () => {
  it.each<readonly [string, () => Promise<unknown>]>([
    ['a changed row', () => tamper(3, { actor: 'eve' })],
    ['a first row that was changed', () => tamper(1, { actor: 'eve' })],
    ['a last row that was changed', () => tamper(6, { actor: 'eve' })],
    ['a removed row', () => rows().deleteOne({ seq: 3 })],
    ['a signature that was taken off', () => rows().updateOne({ seq: 4 }, { $unset: { mac: '' } })],
    ['rows that were cut off', () => rows().deleteMany({ seq: { $gt: 4 } })],
    ['every row removed', () => rows().deleteMany({})],
    ['an end that is gone', () => facts().deleteOne({ _id: 'audit-head' })],
    ['an end that was changed', () => facts().updateOne({ _id: 'audit-head' }, { $set: { value: 'x' } } as never)],
    [
      'a record of breaks that was made up',
      () => facts().insertOne({ _id: 'audit-breaks', value: '{}' } as never, { bypassDocumentValidation: true }),
    ],
    ['a mark above the log', () => marks.raise(40)],
  ])('verifies again, in full and in parts, and the chain goes on: %s', async (_what, change) => {
    await chained(6)
    await verifyNextPart(parts(), () => false)
    await change()
    expect((await verify()).intact).toBe(false)
    const { seq } = await acknowledge()
    expect(seq).toBeGreaterThan(6)
    await chained(2)
    expect(await verify()).toMatchObject({ intact: true, head: { seq: seq + 2 }, answered: [{ by: 'cli:ada' }] })
    expect(await verifyNextPart(parts(), () => false)).toMatchObject({ intact: true, complete: true })
    expect(await rows().findOne({ seq })).toMatchObject({ action: 'audit.break_acknowledged' })
  })

  it('is a break again when an accepted row changes, and can be answered again', async () => {
    await chained(6)
    await tamper(3, { actor: 'eve' })
    const first = await acknowledge()
    expect(first).toMatchObject({ rows: 4, misfits: 1 })
    await chained(1)
    await tamper(5, { actor: 'eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'changed' })
    expect(await acknowledge()).toMatchObject({ rows: 6, misfits: 2 })
    expect(await verify()).toMatchObject({ intact: true })
    await rows().deleteOne({ seq: 4 })
    expect((await verify()).intact).toBe(false)
  })

  it('does not cover a break before it', async () => {
    await chained(6)
    await tamper(5, { actor: 'eve' })
    await acknowledge()
    await tamper(2, { actor: 'eve' })
    expect((await verify()).firstBreak).toMatchObject({ kind: 'changed', seq: 2 })
    await acknowledge()
    expect((await verify()).intact).toBe(true)
  })

  it('stays answered under the next master key, and after the former one is gone', async () => {
    await chained(4)
    await tamper(2, { actor: 'eve' })
    await acknowledge()
    await extend(createAuditKeys([master(2), master(1)]))
    expect(await verify(createAuditKeys(master(2)))).toMatchObject({ intact: true, answered: [{ seq: 2 }] })
  })

  it('is a row that cannot be planted: an answer that only waits for its place answers nothing', async () => {
    await chained(4)
    await tamper(2, { actor: 'eve' })
    const planted = { ...auditRow('audit.break_acknowledged:5'), action: 'audit.break_acknowledged' as const }
    await createAuditRepository(stores.db).insertMany([planted])
    await extend()
    expect((await verify()).firstBreak).toMatchObject({ kind: 'changed', seq: 2 })
  })

  it('is refused while a number is none or was never given, and while a row does not wait for one', async () => {
    await chained(4)
    await tamper(3, { seq: 'three' })
    await expect(acknowledge()).rejects.toThrow('invalid number')
    await tamper('three' as never, { seq: Number.MAX_SAFE_INTEGER })
    await expect(acknowledge()).rejects.toThrow('no writer gave')
    await rows().deleteOne({ seq: Number.MAX_SAFE_INTEGER })
    await rows().insertOne({ _id: 'planted' }, { bypassDocumentValidation: true })
    await expect(acknowledge()).rejects.toThrow('do not wait for one')
    expect((await readBreaks(parts())).record.answered).toEqual([])
    await rows().deleteOne({ _id: 'planted' })
    await acknowledge()
    expect((await verify()).intact).toBe(true)
  })

  it('is stored once when two people answer at the same moment', async () => {
    await chained(4)
    await tamper(2, { actor: 'eve' })
    const both = await Promise.allSettled([acknowledge('one'), acknowledge('two')])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await verify()).toMatchObject({ intact: true, answered: [{}] })
  })

  it('is never lost to a writer that chains at the same moment, nor the rows to it', async () => {
    await chained(4)
    await tamper(2, { actor: 'eve' })
    await createAuditRepository(stores.db).insertMany([auditRow('late')])
    await Promise.allSettled([acknowledge(), extend(), extend()])
    if (!(await verify()).intact) await acknowledge()
    await extend()
    expect(await verify()).toMatchObject({ intact: true, unchained: { waiting: 0 } })
    expect((await rows().distinct('seq')).length).toBe(await rows().countDocuments())
  })
})

it('a second break does not replace the first that waits for its answer', async () => {
  await chained(3)
  const found = { kind: 'changed', seq: 2, id: 'row-002', words: 'Row 2 was changed.' } as const
  await noticeBreak(parts(), found)
  await noticeBreak(parts(), { ...found, seq: 3, words: 'Row 3 was changed.' })
  expect((await readBreaks(parts())).record.open).toMatchObject({ seq: 2, reserved: 4 })
})

// Guarantee: a restore that a person ran is no break, and numbers of the lost minutes never name another row.
describe('behind a restore', () => {
  it('the row of the restore takes a number above the mark', async () => {
    await chained(3)
    await marks.raise(900)
    await createAuditRepository(stores.db).insertMany([auditRow('installation-restored:now'), auditRow('other')])
    expect(await settleRestoredAudit(parts(), 'installation-restored:now')).toBe(true)
    expect(await settleRestoredAudit(parts(), 'installation-restored:now')).toBe(false)
    await extend()
    expect(await rows().findOne({ _id: 'installation-restored:now' })).toMatchObject({ seq: 901 })
    expect(await verify()).toMatchObject({ intact: true, checked: 5, head: { seq: 902 }, answered: [] })
  })

  it('nothing is settled where the archive’s own end does not fit', async () => {
    await chained(3)
    await rows().deleteOne({ seq: 3 })
    await createAuditRepository(stores.db).insertMany([auditRow('installation-restored:now')])
    await expect(settleRestoredAudit(parts(), 'installation-restored:now')).rejects.toThrow('was signed as its end')
  })
})
