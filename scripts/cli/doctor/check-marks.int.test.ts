import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { WRITTEN_AT } from '#shared/domain/marks/mark-fields.ts'
import type { MarkPlace } from '#shared/ports/marks.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import { createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { writeMarks } from '#shared/usecases/marks/mark-records.ts'
import { useStores } from '#test/support/stores.ts'
import { checkMarks } from './diagnoses.ts'

const stores = useStores()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-doctor-marks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const markKeys = createMarkKeys(new Uint8Array(32).fill(7))
const places = () => [createRedisMarkPlace(stores.redis), createFolderMarkPlace(folder)]
const life = () => createInstallationLifeRepository(stores.db)
const say = async (markPlaces: readonly MarkPlace[]) =>
  await checkMarks({ markPlaces, markKeys, installationLife: life(), clock: stores.runtime.clock })
const written = async (markPlaces: readonly MarkPlace[], at: number) =>
  await writeMarks(markPlaces, await life().read(), [{ field: WRITTEN_AT, value: at }], markKeys)

// Guarantee: before anything happens, an operator reads what would not be noticed.
it('says where what was issued is recorded, since when it is not, and what nobody would notice', async () => {
  const [redis, files] = places() as [MarkPlace, MarkPlace]
  await expect(say([])).rejects.toThrow(/by another tool than `paymesh backup restore`.*Set PAYMESH_MARKS_DIR/)
  await expect(say([redis, files])).rejects.toThrow('redis holds nothing yet')

  const now = stores.runtime.clock.now()
  const refuse = () => Promise.reject(new Error('connection refused'))
  const gone: MarkPlace = { ...redis, read: refuse, lives: refuse }
  await written([files], now - 61_000)
  await expect(say([gone, files])).rejects.toThrow(
    `redis does not answer, so what is issued is not recorded there; folder was last written at ${new Date(now - 61_000).toISOString()}`,
  )

  await written([redis, files], now)
  expect(await say([redis, files])).toBe(
    'what was issued is recorded in redis and folder. If the database and redis and folder were all put back to an earlier time together, nobody would notice',
  )
})
