import type { Page } from 'playwright-core'
import type { DevInfo } from '#scripts/start/dev-info.ts'

/** Logs the seeded owner in and opens the dashboard's path. */
export async function logIn(page: Page, dev: DevInfo, path = '/'): Promise<void> {
  if (dev.adminUrl === null || dev.ownerEmail === null || dev.ownerPassword === null)
    throw new Error('no owner is seeded')
  await page.goto(`${dev.adminUrl}/login`)
  const status = await page.evaluate(
    async (input) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch('/trpc/auth.logIn', { method: 'POST', headers, body: JSON.stringify(input) })
      return answer.status
    },
    { email: dev.ownerEmail, password: dev.ownerPassword },
  )
  if (status !== 200) throw new Error(`the log-in was answered with ${status}`)
  await page.goto(`${dev.adminUrl}${path}`)
}
