import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readIssuedSince } from '#scripts/backup/issued-since.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { BEAT, ceilingOf } from '#shared/domain/marks/mark-fields.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { writeMarks } from '#shared/usecases/marks/mark-records.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const folder = makeStoreFolder('paymesh-marks-copy')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const markKeys = createMarkKeys(new Uint8Array(32).fill(7))

// Guarantee: an archive says what was issued before it, also when Redis and the folder are gone, and only what this installation signed.
it('a back-up by the command line holds a copy of the marks', async () => {
  const record = await createInstallationLifeRepository(stores.db).read()
  const marks = [
    { field: ceilingOf('live:evm:key'), value: 512 },
    { field: BEAT, value: 3 },
  ]
  await writeMarks([createRedisMarkPlace(stores.redis)], record, marks, markKeys)
  const passphrase = join(folder, 'passphrase')
  writeFileSync(passphrase, 'correct horse battery staple, twice', { mode: 0o600 })
  const result = await runOnStores(
    stores,
    ...['backup', 'create', join(folder, 'a.backup'), '--passphrase-file', passphrase],
  )
  expect([result.status, result.stderr]).toEqual([0, expect.anything()])

  const facts = new Map<string, string>()
  for await (const { _id, value } of stores.db.collection(INSTALLATION).find())
    if (typeof value === 'string') facts.set(_id, value)
  const known = await readIssuedSince({ markPlaces: [], markKeys }, facts)
  expect(known.marks.get(ceilingOf('live:evm:key'))?.value).toBe(512)
  const others = createMarkKeys(new Uint8Array(32).fill(9))
  expect((await readIssuedSince({ markPlaces: [], markKeys: others }, facts)).marks.size).toBe(0)
})
