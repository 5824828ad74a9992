import type { Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { exceptionalInvoice } from '#test/support/exceptional-invoice.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace, type Person } from '#test/support/open-tenant.ts'

const browser = useBrowser()
const WORDS = 'They are regular customers.'
let dev: DevInfo
let shop: Paymesh
let colleague: Person
beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  colleague = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'support' })
})

/** The exception of an invoice, opened by a person in their own session. */
async function openAs({ email, password }: Person, number: number) {
  const page = await browser.open()
  const path = dashboardPath('exceptions', dev.workspaceId, 'test')
  await logIn(page, { ...dev, ownerEmail: email, ownerPassword: password }, path)
  const row = rowOf(page, number)
  await row.click({ timeout: 60_000 })
  const item = page.locator('#main aside')
  await item.getByRole('link', { name: `invoice #${number}`, exact: true }).waitFor()
  await settled(page)
  return { page, row, item }
}
const rowOf = (page: Page, number: number) =>
  page
    .locator('#main')
    .getByRole('navigation', { name: 'Exceptions' })
    .getByRole('link')
    .filter({ hasText: `#${number}` })

// Guarantee: one person decides; the other is told who and how, loses no words, and changes nothing.
test('of two people who decide the same exception the second is told who was first, and keeps what was typed', {
  timeout: 300_000,
}, async () => {
  const invoice = await exceptionalInvoice(shop, 'partial')
  const owner = { email: dev.ownerEmail ?? '', password: dev.ownerPassword ?? '' }
  const first = await openAs(owner, invoice.number)
  const second = await openAs(colleague, invoice.number)
  await second.item.getByRole('radio', { name: 'Accept as paid' }).check()
  await second.item.getByRole('textbox', { name: 'Reason' }).fill(WORDS)

  // The owner rejects while the colleague's decision is on its way.
  await second.page.route('**/trpc/exceptions.accept*', async (route) => {
    await first.item.getByRole('radio', { name: 'Reject' }).check()
    await first.item.getByRole('textbox', { name: 'Reason' }).fill('Sent back.')
    await first.item.getByRole('button', { name: 'Reject', exact: true }).click()
    await first.item.getByText(`${owner.email} rejected it at`).waitFor()
    await route.continue()
  })
  await second.item.getByRole('button', { name: /^Accept .+ as paid$/ }).click()

  const alert = second.item.getByRole('alert')
  await alert.filter({ hasText: `${owner.email} rejected this at` }).waitFor()
  await alert.filter({ hasText: 'No changes were made.' }).waitFor()
  // A time of the reader's, not of a machine.
  expect(await alert.textContent()).not.toMatch(/\d{4}-\d\d-\d\dT/)
  await second.item.getByText('Closed', { exact: true }).waitFor()
  await second.row.waitFor({ state: 'detached' })
  expect(await second.item.getByRole('textbox', { name: 'Note' }).inputValue()).toBe(WORDS)
  expect(await second.item.getByRole('button', { name: /^Accept/ }).count()).toBe(0)
  expect(await axeViolations(second.page)).toEqual([])
  expect((await shop.invoices.get(invoice.id)).status).toBe('expired')

  // What was written can be kept where the first person sees it.
  await second.item.getByRole('button', { name: 'Add note only' }).click()
  await second.item.getByRole('list', { name: 'Notes' }).getByText(WORDS).waitFor()
  await second.item.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' })
  await expect.poll(async () => (await shop.invoices.get(invoice.id)).status).toBe('expired')
})

test('what was typed also stays when the other decision comes before the click', { timeout: 300_000 }, async () => {
  const invoice = await exceptionalInvoice(shop, 'partial')
  const owner = { email: dev.ownerEmail ?? '', password: dev.ownerPassword ?? '' }
  const first = await openAs(owner, invoice.number)
  const second = await openAs(colleague, invoice.number)
  await second.item.getByRole('textbox', { name: 'Reason' }).fill(WORDS)
  await first.item.getByRole('radio', { name: 'Reject' }).check()
  await first.item.getByRole('textbox', { name: 'Reason' }).fill('Sent back.')
  await first.item.getByRole('button', { name: 'Reject', exact: true }).click()
  await first.item.getByText(`${owner.email} rejected it at`).waitFor()
  await second.item.getByText(`${owner.email} rejected it at`).waitFor({ timeout: 60_000 })
  await second.item.getByText('Already decided. You can keep your text as a note.').waitFor()
  expect(await second.item.getByRole('textbox', { name: 'Note' }).inputValue()).toBe(WORDS)
})
