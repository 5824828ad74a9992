import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { STEPS } from '#shared/db/backup/backup-source.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { type ReplicaSet, startReplicaSet } from '#test/chaos/replica-set.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { keyed } from '#test/support/keyed.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'
import { backUp, differences, stateOf, writeBack } from './back-up-stage.ts'

const DOCUMENTS = 6_000
const START_MS = 180_000
const copy = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-elections')
let members: ReplicaSet | undefined
let source: Database | undefined

const opened = (): { readonly members: ReplicaSet; readonly source: Database } => {
  if (members === undefined || source === undefined) throw new Error('the replica set is not open')
  return { members, source }
}
const payments = () => opened().source.connection.collection<Row>('payments')
type Row = ReturnType<typeof keyed> & { _id: string; n?: number }
const idAt = (nth: number) => `payment-${String(nth).padStart(5, '0')}`

beforeAll(async () => {
  members = await startReplicaSet({ binary: await findMongod(() => undefined), dir: join(folder, 'mongo') })
  source = await connectDatabase({ url: members.url, name: 'elections', logger: copy.runtime.logger })
  await migrate(source)
  await payments().insertMany(
    Array.from({ length: DOCUMENTS }, (_, nth) => ({ _id: idAt(nth), ...keyed(`key-${nth}`), n: 0 })),
  )
}, START_MS)
beforeEach(async () => {
  await copy.db.connection.dropDatabase()
})
afterAll(async () => {
  await source?.close()
  await members?.stop()
  rmSync(folder, { recursive: true, force: true })
}, START_MS)

/** Changes, removes and adds documents in front of and behind the reader. */
async function write(turn: number): Promise<void> {
  await payments().updateMany({ _id: { $in: [idAt(turn), idAt(DOCUMENTS - 1 - turn)] } }, { $inc: { n: 1 } })
  await payments().deleteOne({ _id: idAt(DOCUMENTS / 2 + turn) })
  await payments().insertOne({
    _id: `added-${turn}-${copy.runtime.random.uuid()}`,
    ...keyed(copy.runtime.random.uuid()),
  })
}

/** Small ranges, so that an election meets open ones. */
const ranges = (name: string) =>
  name !== 'payments'
    ? [{ name }]
    : [
        { name, max: idAt(2_000) },
        { name, min: idAt(2_000), max: idAt(4_000) },
        { name, min: idAt(4_000) },
      ]

// Guarantee: an election costs a back-up time and nothing else; the archive is the state of its moment.
describe('a back-up during which the primary changes', () => {
  const changes = [
    ['is killed', () => opened().members.killPrimary()],
    ['steps down', () => opened().members.stepDown()],
  ] as const
  it.each(sampleOf(changes, 1))('is exact when the primary %s', { timeout: START_MS }, async (_, change) => {
    let elections = 0
    const held = await backUp(opened().source, {
      steps: { rangesOf: async (_db, name) => ranges(name) },
      between: async (_piece, nth) => {
        await write(nth)
        if (nth !== 4) return
        await change()
        elections += 1
        await write(nth + 1_000)
      },
    })
    expect(elections).toBe(1)
    await writeBack(copy.db, held)
    expect(differences(await stateOf(opened().source, held.moment), await stateOf(copy.db, null))).toEqual([])
    expect(await copy.db.connection.collection('payments').countDocuments()).toBeGreaterThan(DOCUMENTS / 2)
  })

  deepTest('is exact when the election meets the last pass', { timeout: START_MS }, async () => {
    let elections = 0
    const held = await backUp(opened().source, {
      between: async (_piece, nth) => await write(2_000 + nth),
      steps: {
        endMoment: async (db) => {
          const end = await STEPS.endMoment(db)
          if (elections === 0) {
            elections += 1
            await opened().members.stepDown()
          }
          return end
        },
      },
    })
    expect(elections).toBe(1)
    await writeBack(copy.db, held)
    expect(differences(await stateOf(opened().source, held.moment), await stateOf(copy.db, null))).toEqual([])
  })
})
