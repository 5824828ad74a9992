import { expect, it } from 'vitest'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores({ migrated: false })
const sentence = () => `database ${stores.database} is not migrated yet: run paymesh migrate`

// Guarantee: on an empty database a command prints what to do and nothing else, and stores nothing: an archive is
// restored into an empty database only, and a wrong key must not become the right one because somebody asked.
it('doctor on an unmigrated database prints one sentence and stores nothing', async () => {
  const result = await runOnStores(stores, 'doctor')
  expect(result).toEqual({ status: 1, stdout: `✗ mongo: ${sentence()}\n`, stderr: '' })
  expect(await stores.db.connection.listCollections()).toEqual([])
})

// Guarantee: a row written before the unique indexes exist may be one of two.
it.each([
  ['chain', 'status'],
  ['wallet', 'list'],
  ['operator', 'create', '--email', 'ana@example.com', '--name', 'Ana'],
])('%s %s says the same and stores nothing', async (...args) => {
  expect(await runOnStores(stores, ...args)).toEqual({ status: 1, stdout: '', stderr: `${sentence()}\n` })
  expect(await stores.db.connection.listCollections()).toEqual([])
})
