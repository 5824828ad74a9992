import { expect, it } from 'vitest'
import { USERS } from '#shared/db/accounts/operator-models.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { READABLE_FACT, SCHEMA_FACT } from '#shared/db/schema/schema-version.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const ANA = ['operator', 'create', '--email', 'ana@example.com', '--name', 'Ana']
const facts = () => stores.db.collection(INSTALLATION)
const users = () => stores.db.collection(USERS).countDocuments()

// Guarantee: a command of another version does not write data that it does not understand.
it('a command refuses a newer database, one without a version and half a restore, and stores nothing', async () => {
  const [schema, readable] = await Promise.all([SCHEMA_FACT, READABLE_FACT].map((_id) => facts().findOne({ _id })))
  await facts().updateOne({ _id: READABLE_FACT }, { $set: { value: '9999' } })
  expect(await runOnStores(stores, ...ANA)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('which this version cannot work on'),
  })
  await facts().updateOne({ _id: READABLE_FACT }, { $set: { value: readable?.value ?? '' } })
  await facts().deleteOne({ _id: SCHEMA_FACT })
  expect(await runOnStores(stores, ...ANA)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('run paymesh migrate'),
  })
  await facts().insertOne(schema ?? expect.fail('no version is recorded'))
  // The archive's own version may be there before the indexes are.
  await writeRestoreState(stores.db, {
    takenAt: '2026-01-01T02:17:00.000Z',
    restoredAt: '2026-01-02T08:00:00.000Z',
    skip: 250,
    state: 'writing',
  })
  expect(await runOnStores(stores, ...ANA)).toMatchObject({ status: 1, stderr: expect.stringContaining('did not end') })
  expect(await users()).toBe(0)
  await writeRestoreState(stores.db, {
    takenAt: '2026-01-01T02:17:00.000Z',
    restoredAt: '2026-01-02T08:00:00.000Z',
    skip: 250,
    state: 'confirmed',
  })
  expect((await runOnStores(stores, ...ANA)).status).toBe(0)
  expect(await users()).toBe(1)
})
