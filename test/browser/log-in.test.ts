import { randomUUID } from 'node:crypto'
import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { deepDescribe, deepTest } from '#test/support/depth.ts'
import { mailedLink } from '#test/support/mailed-link.ts'
import { openPerson, ownWorkspace, type Person } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

const newOwner = () => openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'owner' })

/** The code that an authenticator shows in the next step: one that was not used yet, and is taken already. */
const nextCode = async (secret: string) => await generate({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 })

async function givePassword(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

/** Sets up an authenticator on the account page. */
async function enrol(page: Page, { password }: Person): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
  await page.goto(`${dev.adminUrl}/account`)
  await page.getByRole('button', { name: 'Set up authenticator' }).click()
  await page.getByLabel('Your password').fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'Code for your authenticator app' }).waitFor()
  const secret = (await page.getByText(/^[A-Z2-7]{32}$/).textContent()) ?? ''
  await page.getByLabel('6-digit code from the app').fill(await generate({ secret }))
  await page.getByRole('button', { name: 'Turn on' }).click()
  const codes = page.getByRole('region', { name: 'Recovery codes' })
  const recoveryCodes = ((await codes.locator('pre').textContent()) ?? '').trim().split('\n')
  expect(recoveryCodes).toHaveLength(10)
  await codes.getByRole('button', { name: 'I’ve saved them' }).click()
  return { secret, recoveryCodes }
}

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Menu$/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL('**/login')
}

async function statusOf(apiKey: string): Promise<number> {
  const answer = await fetch(`${dev.apiUrl}/invoices`, { headers: { authorization: `Bearer ${apiKey}` } })
  await answer.body?.cancel()
  return answer.status
}

describe('the dashboard’s log-in', () => {
  test('password, then a code of the authenticator, and back to the page that was asked for', async () => {
    const person = await newOwner()
    const page = await browser.open()
    const team = `${dev.adminUrl}/${dev.workspaceId}/test/team`
    await page.goto(team)
    await page.waitForURL('**/login?back=**')
    await givePassword(page, { ...person, password: 'not the password' })
    await page.getByRole('alert').getByText('Wrong email or password.').waitFor()
    await givePassword(page, person)
    await page.getByRole('heading', { name: 'Team' }).waitFor()
    expect(page.url()).toBe(team)
    // Plain http on this machine: the browser keeps a Secure cookie of the host all the same, and no script can read it.
    const cookies = await page.context().cookies()
    const kept = cookies.map(({ name, secure, httpOnly, sameSite }) => ({ name, secure, httpOnly, sameSite }))
    const strict = { secure: true, httpOnly: true, sameSite: 'Strict' }
    expect(kept).toEqual(
      expect.arrayContaining([
        { name: '__Host-paymesh', ...strict },
        { name: '__Host-paymesh-browser', ...strict },
      ]),
    )
    expect(await page.evaluate('document.cookie')).toBe('')

    const { secret } = await enrol(page, person)
    await page.goto(team)
    await logOut(page)
    await givePassword(page, person)
    await page.getByLabel('Authenticator code').fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Authenticator code').fill(await nextCode(secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForURL(/overview$/)
  })

  deepTest('a key is made and shown once; revoking it asks for its end and for a code', async () => {
    const person = await newOwner()
    const page = await browser.open()
    await page.goto(`${dev.adminUrl}/login`)
    await givePassword(page, person)
    await page.waitForURL(/overview$/)
    const { secret, recoveryCodes } = await enrol(page, person)

    const keys = `${dev.adminUrl}/${dev.workspaceId}/test/keys`
    await page.goto(keys)
    await page.getByRole('button', { name: 'New key' }).first().click()
    const name = `Shop ${randomUUID().slice(0, 8)}`
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Create key' }).click()
    const made = page.getByRole('region', { name: 'New key' })
    const apiKey = (await made.locator('[data-new-key]').textContent()) ?? ''
    expect(await statusOf(apiKey)).toBe(200)
    await made.getByRole('button', { name: 'I’ve saved it' }).click()
    expect(await page.content()).not.toContain(apiKey)

    await logOut(page)
    await givePassword(page, person)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/overview$/)
    await page.goto(keys)
    await page.getByRole('row', { name }).getByRole('button', { name: 'Revoke' }).click()
    await page.getByLabel('Type its last four characters').fill(apiKey.slice(-4))
    await page.getByRole('button', { name: 'Revoke key' }).click()
    const question = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await question.waitFor()
    expect(await axeViolations(page)).toEqual([])
    await question.getByLabel('Authenticator code').fill(await nextCode(secret))
    await question.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('row', { name }).getByText('Revoked', { exact: true }).waitFor()
    expect(await statusOf(apiKey)).toBe(401)
  })
})

deepDescribe('a forgotten password', () => {
  test('is replaced with the link of a mail', async () => {
    const person = await newOwner()
    const page = await browser.open()
    await page.goto(`${dev.adminUrl}/login`)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
    await page.getByLabel('Email').fill(person.email)
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByText('has an account here, a link is on its way.').waitFor()
    const url = await mailedLink(inject('stackDataDir'), person.email, 'password_reset_requested')
    expect(url).toContain(`${dev.adminUrl}/reset#`)
    await page.goto(url)
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page
      .getByText(/at least 12 characters/i)
      .nth(1)
      .waitFor()
    await page.getByLabel('New password').fill('other words than before')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByRole('link', { name: 'Log in' }).click()
    await givePassword(page, { ...person, password: 'other words than before' })
    await page.waitForURL('**/overview')
    await page.goto(url)
    await page.reload()
    await page.getByLabel('New password').fill('a third time other words')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('This link is no longer valid.').waitFor()
  })
})
