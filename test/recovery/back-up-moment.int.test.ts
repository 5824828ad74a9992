import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const busy = useStores()
const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const folder = makeStoreFolder('paymesh-busy')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a back-up', () => {
  // Guards money: the archive is one moment, however much is written while it is read.
  it('holds all or nothing of what was written together', async () => {
    const { connection } = busy.db
    const client = connection.getClient()
    let isDone = false
    const write = async (): Promise<void> => {
      for (let number = 0; !isDone; number += 1) {
        await client.withSession((session) =>
          session.withTransaction(async () => {
            for (const name of ['products', 'workspaces', 'audit_log']) {
              const _id = `${name}-${number}` as never
              await connection
                .collection(name)
                .insertOne({ _id, sku: null, seq: number, waits: true }, { session, bypassDocumentValidation: true })
            }
          }),
        )
      }
    }
    const writing = write()
    const archives = join(folder, 'busy')
    for (let nth = 0; nth < 3; nth += 1) {
      const taken = await takeBackup(busy.db, {
        ...{ target: fileTarget(`${archives}-${nth}`), id: `${nth}`, secret, version: 'test' },
        onProgress: () => undefined,
      })
      const { products, workspaces, audit_log: audits } = taken.counts
      expect([workspaces, audits]).toEqual([products, products])
    }
    isDone = true
    await writing
  })
})
