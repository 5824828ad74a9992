import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { checkWebhook, verifyStandardWebhook } from '#test/support/check-webhook.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { enrolAuthenticator } from '#test/support/enrol-authenticator.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const browser = useBrowser()
let dev: DevInfo
let shop: Paymesh
let receiver: WebhookReceiver

beforeAll(async () => {
  dev = await ownWorkspace()
  shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  receiver = await startWebhookReceiver()
})
afterAll(() => receiver.close())

/** Opens the page of a new endpoint as an owner whose authenticator is confirmed. */
async function openEndpoint() {
  const { id, secret } = await shop.webhookEndpoints.create({ url: receiver.url, events: ['invoice.paid'] })
  const { email, password } = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'owner' })
  const page = await browser.open()
  await logIn(page, { ...dev, ownerEmail: email, ownerPassword: password })
  await enrolAuthenticator(page, password)
  await page.goto(`${dev.adminUrl}${dashboardPath(`webhooks/endpoints/${id}`, dev.workspaceId, 'test')}`)
  const aside = page.getByRole('complementary', { name: 'Endpoint' })
  const rotate = aside.getByRole('button', { name: 'Rotate secret…' })
  const dialog = page.getByRole('dialog', { name: 'Rotate the signing secret' })
  /** The secret that the dialog offers. */
  const offered = async () => (await dialog.getByText(/^whsec_\S{44}$/).textContent()) ?? ''
  /** Confirms the rotation; returns the secret that is shown for the last time. */
  const confirm = async () => {
    await dialog.getByRole('button', { name: 'Rotate secret' }).dblclick()
    const shown = page.getByRole('dialog', { name: 'Signing secret', exact: true })
    const last = (await shown.getByText(/^whsec_/).textContent()) ?? ''
    expect(await shown.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    await shown.getByLabel('I’ve saved it').check()
    await shown.getByRole('button', { name: 'Close' }).click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(last)
    return last
  }
  /** Sends a test event, and returns the request that the receiver got. */
  const sendTest = async () => {
    const before = receiver.requests.length
    await aside.getByRole('button', { name: 'Send test event' }).click()
    const request = (await receiver.waitForCount(before + 1)).at(-1)
    if (request === undefined) throw new Error('no request arrived')
    await page.waitForURL(/webhooks\/deliveries\//)
    await page.goBack()
    await aside.waitFor()
    return request
  }
  return { page, aside, rotate, dialog, offered, confirm, sendTest, first: secret }
}

// Guarantee: the secret that receivers were given before the rotation is the one that signs after it, and the old one until it expires.
test('a rotated secret is shown before it signs, and the old one stays valid as long as was chosen', async () => {
  const { page, aside, rotate, dialog, offered, confirm, sendTest, first } = await openEndpoint()
  await rotate.click()
  const discarded = await offered()
  expect(await dialog.getByRole('radio', { name: '24 hours' }).isChecked()).toBe(true)
  expect(await axeViolations(page)).toEqual([])
  await page.mouse.click(5, 5)
  expect(await offered()).toBe(discarded)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => rotate.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true)
  const unchanged = await sendTest()
  expect(checkWebhook(unchanged, first, Date.now())).toBe('valid')
  expect(await aside.getByText('Old secret valid until').count()).toBe(0)

  await rotate.click()
  const second = await offered()
  expect(second).not.toBe(discarded)
  expect(await confirm()).toBe(second)
  await aside.getByText('Old secret valid until').waitFor()
  const overlapping = await sendTest()
  expect(checkWebhook(overlapping, second, Date.now())).toBe('valid')
  expect(checkWebhook(overlapping, first, Date.now())).not.toBe('valid')
  expect([first, second].map((secret) => verifyStandardWebhook(overlapping, secret))).toEqual([true, true])

  await rotate.click()
  await dialog.getByRole('radio', { name: 'Expire now (it leaked)' }).check()
  const third = await confirm()
  await aside.getByText('Old secret valid until').waitFor({ state: 'detached' })
  const alone = await sendTest()
  const accepted = [first, second, third].map((secret) => verifyStandardWebhook(alone, secret))
  expect(accepted).toEqual([false, false, true])
})
