import { expect, it } from 'vitest'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const ARCHIVE = { takenAt: '2026-01-01T02:17:00.000Z', restoredAt: '2026-01-02T08:00:00.000Z', skip: 250 }
async function run(...args: readonly string[]) {
  const { status, stdout, stderr } = await runOnStores(stores, ...args)
  return { status, text: `${stdout}${stderr}` }
}

// Guarantee: nobody wonders why a restored installation sends nothing, and an update does not begin on half a restore.
it('says that a restore is not confirmed, or did not end', async () => {
  expect((await run('doctor')).text).not.toContain('restore:')
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'held' })
  expect((await run('doctor')).text).toMatch(
    /^✗ restore: .*2026-01-01T02:17:00\.000Z.*no webhook and no email.*`paymesh backup confirm-restore`$/m,
  )
  expect(await run('migrate')).toMatchObject({ status: 0 })
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'confirmed' })
  expect((await run('doctor')).text).not.toContain('restore:')
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'writing' })
  expect((await run('doctor')).text).toMatch(/^✗ mongo: .* did not end: drop the database and restore again$/m)
  expect(await run('migrate')).toMatchObject({
    status: 1,
    text: expect.stringContaining('did not end: drop the database and restore again'),
  })
})
