import { expect, test } from 'vitest'
import { ROUTES } from '#services/api/routes.ts'
import { useBrowser } from '#test/support/browser.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()

// Guarantee: the reference runs under its policy without an exception; `useBrowser` fails on a violation and on a request to another host.
test('a merchant reads every operation in the reference, searches one and opens it, in both themes', async () => {
  const dev = sharedInstallation()
  const page = await browser.open()
  // A caught attempt, such as the probe for eval, is a violation that no console shows.
  const content = `
    globalThis.broken = []
    addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective + ' ' + event.blockedURI))`
  await page.addInitScript({ content })
  await page.goto(`${dev.apiUrl}/docs`)
  await page.getByRole('heading', { name: 'Idempotency' }).waitFor()
  const operations = page.locator('.opblock-tag-section .opblock')
  const shown = async () =>
    (await operations.locator('.opblock-summary-path').allTextContents()).map((path) => path.replaceAll('\u200b', ''))
  const methods = async () => await operations.locator('.opblock-summary-method').allTextContents()
  await expect.poll(() => operations.count()).toBe(ROUTES.length)
  expect(ROUTES).toHaveLength(19)
  const [paths, verbs] = [await shown(), await methods()]
  expect(paths.map((path, index) => `${verbs[index]} ${path}`).sort()).toEqual(
    ROUTES.map(({ method, path }) => `${method} ${path}`).sort(),
  )

  await page.getByRole('searchbox', { name: 'Search operations' }).fill('simulate')
  await expect.poll(shown).toEqual(['/test/invoices/{id}/simulate'])
  await operations
    .getByRole('button', { name: /simulate/ })
    .first()
    .click()
  await operations.getByText('Scope: ').first().waitFor()
  // Keys are secrets of a server: the page has no place for one and sends nothing.
  expect(await page.getByRole('button', { name: /try it out|authorize/i }).count()).toBe(0)

  await page.getByRole('searchbox', { name: 'Search operations' }).fill('no such operation')
  await expect.poll(() => operations.count()).toBe(0)

  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html.dark-mode').waitFor()
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('webhook')
  await operations.first().waitFor()
  expect(await page.evaluate('globalThis.broken')).toEqual([])
})
