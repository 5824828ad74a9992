import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
const NAME = 'ARS:official'
let dev: DevInfo
let db: Database

beforeAll(async () => {
  const { PAYMESH_MONGO_DATABASE: name = '' } = readEnvironment(inject('stackDataDir')) ?? {}
  dev = await ownWorkspace()
  db = await connectDatabase({ url: dev.mongoUrl, name, logger: createLogger({ name: 'test', level: 'silent' }) })
})
afterAll(async () => {
  await db.close()
})

/** The official peso as if it had been at 366: what the sources say now is a jump that the running service holds back. */
async function devalue(): Promise<void> {
  const rates = createRateRepository(db)
  const latest = await rates.latest()
  const now = latest?.fiatPerUsd[NAME]
  if (latest === null || now === undefined) return
  const at = latest.at + 1
  const last = { price: '366', at: at - 60_000 }
  const candidate = { price: now.price, at, since: at - 45_000 }
  const guards = { ...latest.guards, [NAME]: { last, quarter: [last], day: [last], candidate, stopped: null } }
  const { [NAME]: _gone, ...others } = latest.fiatPerUsd
  await rates.insert({ ...latest, at, fiatPerUsd: others, guards })
}

// Guarantee: an operator sees what waits and why, and confirms it with a code and a reason.
test('a jump of a currency is shown with its price, and confirmed with a reason', async () => {
  const page = await browser.open({ width: 1440 })
  await logIn(page, dev, '/system/rates')
  await enrolAuthenticator(page, dev.ownerPassword ?? '')
  const sources = page.getByRole('table', { name: 'sources' })
  await sources.getByText('12 of 12').first().waitFor()
  const note = page.getByText(/jumped to 1,490/)
  // A cycle that began before may publish after it.
  await expect
    .poll(
      async () => {
        await devalue()
        await page.reload()
        await settled(page)
        return await note.count()
      },
      { timeout: 30_000 },
    )
    .toBe(1)
  expect(await axeViolations(page)).toEqual([])
  expect(await sidewaysPixels(page)).toBe(0)
  const title = /^Confirm ARS:official at 1,490/
  await page.getByRole('button', { name: title }).click()
  const dialog = page.getByRole('dialog', { name: title })
  const confirm = dialog.getByRole('button', { name: title })
  expect(await confirm.isDisabled()).toBe(true)
  await dialog.getByLabel('Reason').fill('Devaluation, as announced by the central bank.')
  await confirm.click()
  await page
    .getByText(/^Confirmed: ARS:official is published again/)
    .first()
    .waitFor()
  expect(
    await db.connection.collection('audit_log').findOne({ subject: NAME, action: 'rate.confirmed' }),
  ).toMatchObject({
    actor: `user:${dev.ownerEmail}`,
    detail: { price: '1490', last_price: '366', reason: 'Devaluation, as announced by the central bank.' },
  })
})
