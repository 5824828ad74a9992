import mongoose from 'mongoose'
import { beforeEach, describe, expect, it } from 'vitest'
import { walkArchive } from '#shared/db/backup/archive-contents.ts'
import { recordBytes } from '#shared/db/backup/archive-records.ts'
import { type BackupSteps, STEPS } from '#shared/db/backup/backup-source.ts'
import type { ChangeCollector } from '#shared/db/backup/change-collector.ts'
import { type WriteBatch, writeBatch } from '#shared/db/backup/restore-archive.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { keyed } from '#test/support/keyed.ts'
import { useStores } from '#test/support/stores.ts'
import { type BackUpOptions, backUp, differences, stateOf, writeBack } from './back-up-stage.ts'

const source = useStores()
const copy = useStores({ migrated: false })
/** Documents of one collection; the ranges below have a few hundred each. */
const MANY = 3_000
const idAt = (index: number): string => `p${String(index).padStart(6, '0')}`
const payments = () => source.db.connection.collection<Row>('payments')
type Row = ReturnType<typeof keyed> & { _id: string; n: number }
const audits = () => source.db.connection.collection<{ _id: string; at: Date; seq: number }>('audit_log')

beforeEach(async () => {
  // A separate table for each test: sampling walks through all that was deleted from one, for as long as the store keeps it.
  await payments().drop()
  await emptyDatabase(source.db)
  await copy.db.connection.dropDatabase()
  await payments().insertMany(
    Array.from({ length: MANY }, (_, index) => ({ _id: idAt(index), ...keyed(`key-${index}`), n: 0 })),
  )
})

/** Several ranges of a collection of this size. */
const manyRanges: BackupSteps['rangesOf'] = async (db, name, documents) =>
  await STEPS.rangesOf(db, name, documents < 1_000 ? documents : documents * 30)

/**
 * Changes documents of every piece right after it was read: one is changed, one deleted, one deleted and inserted again, one changes its
 * unique key with one that was read before, so that whichever is written first meets the other's, and a transaction writes two collections. A few are written that no range has met yet.
 */
function hostileWriter() {
  let turn = 0
  let giver: string | null = null
  return async (piece: Buffer): Promise<void> => {
    const ids = [...new Set(piece.toString('latin1').match(/p\d{6}/g) ?? [])]
    turn += 1
    const [changed, deleted, replaced, taker] = ids
    if (changed !== undefined) await payments().updateOne({ _id: changed }, { $inc: { n: 1 } })
    if (deleted !== undefined) await payments().deleteOne({ _id: deleted })
    if (replaced !== undefined) {
      await payments().deleteOne({ _id: replaced })
      await payments().insertOne({ _id: replaced, ...keyed(`again-${turn}`), n: turn })
    }
    if (giver !== null && taker !== undefined) {
      const freed = await payments().findOneAndUpdate({ _id: giver }, { $set: keyed(`freed-${turn}`) })
      const taken =
        freed === null ? null : await payments().findOneAndUpdate({ _id: taker }, { $set: keyed(freed.key) })
      if (taken !== null) await payments().updateOne({ _id: giver }, { $set: keyed(taken.key) })
    }
    giver = ids.at(-1) ?? giver
    await source.db.connection.getClient().withSession((session) =>
      session.withTransaction(async () => {
        await payments().insertOne({ _id: idAt(MANY + turn), ...keyed(`new-${turn}`), n: 0 }, { session })
        await audits().insertOne(
          { _id: `row-${turn}`, at: new Date(), seq: turn },
          { session, bypassDocumentValidation: true },
        )
      }),
    )
    await payments().deleteOne({ _id: idAt(MANY - turn * 7) })
  }
}

/** Backs up beside the hostile writer, restores, and names the documents that are not as they were at the moment of the back-up. */
async function faultsWith(
  options: BackUpOptions = {},
  write?: WriteBatch,
  isIndexed = false,
): Promise<readonly string[]> {
  const held = await backUp(source.db, {
    ...options,
    between: hostileWriter(),
    steps: { rangesOf: manyRanges, ...options.steps },
  })
  if (isIndexed) await copy.db.connection.collection('payments').createIndex({ key: 1 }, { unique: true })
  await writeBack(copy.db, held, write)
  const faults = differences(await stateOf(source.db, held.moment), await stateOf(copy.db, null))
  if (faults.length > 0) return faults
  await migrate(copy.db)
  await verifyIndexes(copy.db)
  return []
}

/** A stream that is as slow as a stream may be: it delivers nothing until somebody waits for it. */
function slowStream(waits: boolean): BackupSteps['collectChanges'] {
  return (db, names, from) => {
    const real = STEPS.collectChanges(db, names, from)
    let isOpen = false
    return {
      ...real,
      size: () => (isOpen ? real.size() : 0),
      take: () => (isOpen ? real.take() : new Map()),
      passed: async (moment) => {
        if (!waits) return
        isOpen = true
        await real.passed(moment)
      },
    }
  }
}

/** A stream that is opened after the collections were read. */
const lateStream: BackupSteps['collectChanges'] = (db, names, from) => {
  let real: ChangeCollector | null = null
  return {
    size: () => 0,
    newest: () => from,
    take: () => real?.take() ?? new Map(),
    passed: async (moment) => {
      real ??= STEPS.collectChanges(db, names, moment)
      await real.passed(moment)
    },
    close: async () => await real?.close(),
  }
}

/** Changes a document between the moment of the back-up and the last reading. */
const changesBeforeLast = (isExact: boolean): BackupSteps['readChanged'] =>
  async function* (db, changed, moment) {
    if (moment.level === 'snapshot') {
      for (const _id of changed.get('payments') ?? []) await payments().updateOne({ _id }, { $inc: { n: 1_000 } })
    }
    const later = {
      level: 'majority',
      afterClusterTime: 'atClusterTime' in moment ? moment.atClusterTime : moment.afterClusterTime,
    } as const
    yield* STEPS.readChanged(db, changed, isExact ? moment : later)
  }

describe('a back-up beside writes', () => {
  // Guards money: the copy is the source at one moment, whatever is written while it is read, and its unique indexes can be built.
  it('equals the source as of its moment', async () => {
    expect(await faultsWith()).toEqual([])
  })

  deepTest.each<[string, BackUpOptions]>(
    sampleOf(
      [
        ['the stream is slow', { steps: { collectChanges: slowStream(true) } }],
        ['every few changes are read between the ranges', { changedMax: 60 }],
        ['much changes at the end', { steps: { readChanged: changesBeforeLast(true) } }],
      ],
      1,
    ),
  )('equals it when %s', async (_, options) => {
    expect(await faultsWith(options)).toEqual([])
  })

  it('reads several ranges of one collection, without a gap', async () => {
    const ranges = await manyRanges(source.db, 'payments', MANY)
    expect(ranges.length).toBeGreaterThan(3)
    expect(ranges[0]).not.toHaveProperty('min')
    expect(ranges.at(-1)).not.toHaveProperty('max')
    for (const [index, { max }] of ranges.slice(0, -1).entries()) expect(ranges[index + 1]?.min).toEqual(max)
  })

  it('ends with a clear message when its changes are lost, or a collection is', async () => {
    // What the server answers when its oplog begins after the place of the stream; a test's oplog is never full.
    const lost = new mongoose.mongo.MongoServerError({
      code: 286,
      message: 'resume point may no longer be in the oplog',
    })
    const without: BackupSteps['collectChanges'] = (db, names, from) => {
      const client = db.connection.getClient()
      const watch = () => ({ tryNext: async () => await Promise.reject(lost), close: async () => undefined })
      const getClient = () => ({ ...client, db: () => ({ watch }) })
      return STEPS.collectChanges({ ...db, connection: { getClient } } as never, names, from)
    }
    const failure = await backUp(source.db, { steps: { collectChanges: without } }).catch((error: Error) => error)
    expect(failure).toMatchObject({ message: expect.stringContaining('its oplog is too small') })
    const dropping = async (_: Buffer, nth: number): Promise<void> => {
      if (nth === 1) await source.db.connection.collection('products').drop()
    }
    await expect(backUp(source.db, { between: dropping })).rejects.toThrow('"drop" on products while it was read')
    await migrate(source.db)
  })
})

const noGone: BackupSteps['readChanged'] = async function* (...given) {
  for await (const batch of STEPS.readChanged(...given)) yield { ...batch, gone: [] }
}
const withoutRange: BackupSteps['rangesOf'] = async (...given) =>
  (await manyRanges(...given)).filter((_, index, all) => all.length < 3 || index !== 1)
const withoutFirst: BackupSteps['readRange'] = async function* (db, range, since) {
  let isFirst = true
  for await (const batch of STEPS.readRange(db, range, since)) {
    yield isFirst && range.min !== undefined ? batch.slice(1) : batch
    isFirst = false
  }
}
const noChanges: BackupSteps['readChanged'] = async function* () {}
const firstPassOnly: WriteBatch = async (db, batch) => {
  if (batch.pass === 0) await writeBatch(db, batch)
}
const noDeletes: WriteBatch = async (db, batch) => await writeBatch(db, { ...batch, gone: [] })

/** Wrong back-ups and restores, each with one mistake. */
const MISTAKES: Readonly<
  Record<string, { readonly options?: BackUpOptions; readonly write?: WriteBatch; readonly isIndexed?: boolean }>
> = {
  'the stream is opened after the reading': { options: { steps: { collectChanges: lateStream } } },
  'the end does not wait for the stream': { options: { steps: { collectChanges: slowStream(false) } } },
  'changed documents are not read again': { options: { steps: { readChanged: noChanges } } },
  'deletes are not in the archive': { options: { steps: { readChanged: noGone } } },
  'a range is left out': { options: { steps: { rangesOf: withoutRange } } },
  'the first document of a range is left out': { options: { steps: { readRange: withoutFirst } } },
  'the last pass reads later than its moment': { options: { steps: { readChanged: changesBeforeLast(false) } } },
  'later passes are not restored': { write: firstPassOnly },
  'deletes are not restored': { write: noDeletes },
  'unique indexes exist while passes are written': { isIndexed: true },
}

describe('the test above', () => {
  it.each(sampleOf(Object.keys(MISTAKES), 1))('finds that %s', async (name) => {
    const { options, write, isIndexed } = MISTAKES[name] ?? {}
    const faults = await faultsWith(options, write, isIndexed).catch((error: Error) => [error.message])
    expect(faults).not.toEqual([])
  })
})

describe('an archive', () => {
  const walked = async (...records: readonly Buffer[]) =>
    await walkArchive(
      (async function* () {
        yield* records
      })(),
      () => undefined,
    )
  const control = (one: unknown): Buffer => recordBytes({ kind: 'control', control: one as never })

  it('is refused when a batch is short, a pass goes back, a sum is wrong, or something follows its end', async () => {
    const { records } = await backUp(source.db)
    await expect(walked(...records)).resolves.toMatchObject({ backupId: 'held', counts: { payments: MANY } })
    const start = records[0] ?? Buffer.alloc(0)
    const batch = (pass: number, documents: number) =>
      control({ t: 'batch', name: 'payments', pass, documents, gone: 0 })
    const document = recordBytes({ kind: 'document', bytes: Buffer.from(mongoose.mongo.BSON.serialize({ _id: 'a' })) })
    await expect(walked(start, batch(0, 2), document)).rejects.toThrow('a batch of payments is not complete')
    await expect(walked(start, batch(0, 1), document, document)).rejects.toThrow('a document of no batch')
    await expect(walked(start, batch(1, 1), document, batch(0, 1), document)).rejects.toThrow('out of its place')
    await expect(walked(...records.slice(0, -1))).rejects.toThrow('has no end')
    await expect(walked(...records.slice(0, 1), ...records.slice(2))).rejects.toThrow(
      'does not match its count or hash',
    )
    await expect(walked(...records, batch(9, 0))).rejects.toThrow('continues after its end')
    await expect(walked(...records.slice(1))).rejects.toThrow('has no beginning')
  })
})
