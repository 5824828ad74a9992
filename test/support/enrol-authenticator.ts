import { generate } from 'otplib'
import type { Page } from 'playwright-core'

/** Sets up an authenticator for whoever is logged in on the page, and stays there; dangerous changes are allowed for some minutes. */
export async function enrolAuthenticator(page: Page, password: string): Promise<void> {
  const call = async (procedure: string, input: object): Promise<{ readonly secret?: string }> => {
    const text = await page.evaluate(
      async ([name, body]) => {
        const headers = { 'content-type': 'application/json' }
        return await (await fetch(`/trpc/auth.${name}`, { method: 'POST', headers, body: body ?? '' })).text()
      },
      [procedure, JSON.stringify(input)] as const,
    )
    const answer = JSON.parse(text)
    if (answer.error !== undefined) throw new Error(`${procedure}: ${answer.error.message}`)
    return answer.result.data
  }
  const { secret = '' } = await call('beginEnrolment', { password, code: null })
  await call('confirmEnrolment', { code: await generate({ secret }) })
}
