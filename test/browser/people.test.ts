import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { openPerson } from '#test/support/open-tenant.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const dev = sharedInstallation()

/** A new owner without an authenticator, logged in. */
async function newOwner(name: string): Promise<{ page: Page; email: string; password: string }> {
  const owner = { workspaceId: dev.workspaceId, role: 'owner', name } as const
  const { email, password } = await openPerson(inject('stackDataDir'), owner)
  const page = await browser.open()
  await page.goto(`${dev.adminUrl}/login`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL(/overview$/)
  return { page, email, password }
}

/** Sets up an authenticator in the dialog that asks for one; the change that was being made goes on. */
async function enrolInPlace(page: Page, password: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Turn on two-factor authentication first' })
  await dialog.getByLabel('Your password').fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('img', { name: 'Code for your authenticator app' }).waitFor()
  expect(await axeViolations(page)).toEqual([])
  const secret = /[A-Z2-7]{32}/.exec((await dialog.textContent()) ?? '')?.[0] ?? ''
  await dialog.getByLabel('6-digit code from the app').fill(await generate({ secret }))
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await dialog.getByRole('button', { name: 'I’ve saved them' }).click()
}

// Guarantee: a person without an authenticator is led to set one up, and goes on with what they were doing.
test('an authenticator is set up before the form of a key opens; removal lists the key for revocation', {
  timeout: 240_000,
}, async () => {
  const admin = await newOwner('Rita Rey')
  await admin.page.goto(`${dev.adminUrl}/${dev.workspaceId}/test/keys`)
  await admin.page.getByRole('button', { name: 'New key' }).first().click()
  // First the authenticator, then the form: nothing is filled in to be refused.
  await enrolInPlace(admin.page, admin.password)
  const form = admin.page.getByRole('dialog', { name: 'New test key' })
  await form.getByLabel('Name').fill('Till of Rita')
  await form.getByRole('radio', { name: 'Read only' }).check()
  await form.getByText('invoices:read, links:read, products:read, payments:read, rates:read').waitFor()
  await form.locator('button[type=submit]').click()
  await admin.page.getByText('Till of Rita').first().waitFor()

  const boss = await newOwner('Berta Boss')
  await boss.page.goto(`${dev.adminUrl}/${dev.workspaceId}/test/team`)
  const row = boss.page.getByRole('row').filter({ hasText: admin.email })
  await row.getByRole('button', { name: /^Change role of/ }).click()
  await boss.page.getByRole('button', { name: 'Remove from the workspace' }).click()
  const question = boss.page.getByRole('dialog', { name: 'Remove from the workspace' })
  await question.getByRole('button', { name: 'Remove from the workspace' }).click()
  await enrolInPlace(boss.page, boss.password)
  const keys = boss.page.getByRole('dialog', { name: 'Revoke their API keys?' })
  await keys.getByText('Till of Rita').waitFor()
  expect(await axeViolations(boss.page)).toEqual([])
  await keys.getByRole('button', { name: /^Revoke the key that ends in/ }).click()
  await keys.getByText('Revoked', { exact: true }).waitFor()
})
