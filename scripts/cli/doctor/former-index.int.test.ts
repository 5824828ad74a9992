import { expect, it } from 'vitest'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { becomeFormer } from '#test/support/former-payments.ts'
import { runOnStores } from '#test/support/run-on-stores.ts'
import { useStores } from '#test/support/stores.ts'

const HOUR_MS = 3_600_000

const stores = useStores()
async function run(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runOnStores(stores, ...args)
  return `${stdout}${stderr}`
}

/** Moves the end of migration 3 into the past. */
async function ended(agoMs: number): Promise<string> {
  const changedAt = new Date(Date.now() - agoMs)
  await stores.db.collection(INSTALLATION).updateOne({ _id: 'migration:3' }, { $set: { changedAt } })
  return new Date(changedAt.getTime() + 24 * HOUR_MS).toISOString()
}

// Guarantee: nobody keeps an index that nothing uses, which costs each payment a write, because an upgrade has a second step.
it('says when migrate is due a second time, until the former index is gone', async () => {
  expect(await run('doctor')).not.toContain(' migrate: ')
  await becomeFormer(stores.db)
  await run('migrate')
  const later = await ended(23 * HOUR_MS)
  expect(await run('doctor')).toContain(
    `✓ migrate: run \`paymesh migrate\` once more after ${later}, or with --finish now`,
  )
  const since = await ended(25 * HOUR_MS)
  expect(await run('doctor')).toMatch(
    new RegExp(`^✗ migrate: .* payment_key .*since ${since}: run \`paymesh migrate\` once more$`, 'm'),
  )
  expect(await run('migrate')).toContain('dropped the index payment_key')
  expect(await run('doctor')).not.toContain(' migrate: ')
})
