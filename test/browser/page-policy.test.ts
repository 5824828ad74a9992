import type { ConsoleMessage, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { SHOWN_ID } from '#test/support/checkout-views.ts'
import { logIn } from '#test/support/log-in.ts'
import { sharedInstallation } from '#test/support/shared-installation.ts'

const browser = useBrowser()
const dev = sharedInstallation()

/** What Chromium says when a page breaks its policy; every other browser test fails when it appears. */
const REFUSED = /TrustedHTML|TrustedScript|Trusted Types|TrustedTypePolicy|Content Security Policy/

/** Ways in which text of a stranger becomes a program, each as a script that a fault of ours would run. */
const ATTACKS: Readonly<Record<string, string>> = {
  'an element with a handler': `document.body.innerHTML = '<img src=x onerror="window.owned = 1">'`,
  'markup behind an element': `document.body.insertAdjacentHTML('beforeend', '<b>bold</b>')`,
  'a frame with a document': `Object.assign(document.createElement('iframe'), { srcdoc: '<p>here</p>' })`,
  'the address of a script': `document.createElement('script').src = '/assets/other.js'`,
  'the text of a script': `document.createElement('script').text = 'window.owned = 1'`,
  'a parsed document': `new DOMParser().parseFromString('<b>bold</b>', 'text/html')`,
  'a second policy': `trustedTypes.createPolicy('other', { createHTML: (text) => text })`,
  'a second default policy': `trustedTypes.createPolicy('default', { createHTML: (text) => text })`,
}

/** Runs the attack inside the page and says how it ended. */
async function outcomeOf(page: Page, script: string): Promise<string> {
  return (await page.evaluate(
    `(() => { try { ${script}; return 'ran' } catch (error) { return error.name } })()`,
  )) as string
}

// Guarantee: even where we would make a mistake, text that a stranger wrote does not become markup or a script. What is refused leaves
// the page as it was, so that one page meets them all.
describe.each(['dashboard', 'checkout'] as const)('%s', (which) => {
  test('refuses each way and says so', async () => {
    const said: string[] = []
    const page = await browser.open({ expected: REFUSED })
    page.on('console', (message: ConsoleMessage) => void said.push(message.text()))
    if (which === 'dashboard') await logIn(page, dev)
    else await page.goto(`${dev.checkoutUrl}/i/${SHOWN_ID}`)
    await settled(page)
    for (const [name, script] of Object.entries(ATTACKS)) {
      said.length = 0
      expect([name, await outcomeOf(page, script)]).toEqual([name, 'TypeError'])
      await expect.poll(() => [name, said.join('\n')]).toEqual([name, expect.stringMatching(REFUSED)])
      expect([name, await page.evaluate('window.owned')]).toEqual([name, undefined])
    }
  })
})

test('the dashboard sets style sheets, which is all the markup that its policy lets through', async () => {
  const page = await browser.open({ expected: REFUSED })
  await logIn(page, dev)
  await settled(page)
  const text = `(() => { const style = document.createElement('style'); style.innerHTML = 'a > b { color: red }'; return style.sheet === null ? style.textContent : '' })()`
  expect(await page.evaluate(text)).toBe('a > b { color: red }')
  expect(await page.evaluate(`document.querySelectorAll('style[data-mantine-styles]').length`)).toBeGreaterThan(0)
})

test('the dashboard gives up every right of a page that it does not use', async () => {
  const { headers } = await fetch(`${dev.adminUrl}/`)
  const policy = headers.get('content-security-policy') ?? ''
  for (const part of ["default-src 'none'", "require-trusted-types-for 'script'", 'trusted-types default']) {
    expect(policy.split('; ')).toContain(part)
  }
  const rights = headers.get('permissions-policy')?.split(', ')
  for (const name of ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'display-capture']) {
    expect(rights).toContain(`${name}=()`)
  }
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  const page = await browser.open({ expected: /[Pp]ermissions policy/ })
  await page.goto(dev.adminUrl ?? '')
  const answer = await page.evaluate(
    `new Promise((resolve) => navigator.geolocation.getCurrentPosition(() => resolve('given'), (error) => resolve(error.code)))`,
  )
  expect(answer).toBe(1)
})

// Guarantee: no answer of ours is guessed at, fetched without TLS once it was seen with it, or named to another site.
test('answers of dashboard and checkout carry their headers, pages, data, files and refusals alike', async () => {
  const urls = [
    ...['/', '/assets/missing.js', '/trpc/auth.me', '/export/invoices.csv'].map((path) => `${dev.adminUrl}${path}`),
    ...[`/i/${SHOWN_ID}`, '/assets/missing.js', `/api/i/${SHOWN_ID}`].map((path) => `${dev.checkoutUrl}${path}`),
  ]
  for (const url of urls) {
    for (const method of ['GET', 'DELETE']) {
      const { headers } = await fetch(url, { method })
      const found = ['x-content-type-options', 'strict-transport-security', 'referrer-policy'].map((name) =>
        headers.get(name),
      )
      expect([method, url, ...found]).toEqual([method, url, 'nosniff', 'max-age=31536000', 'no-referrer'])
      expect(headers.get('permissions-policy')).toContain('camera=()')
    }
  }
  for (const url of [`${dev.adminUrl}/`, `${dev.checkoutUrl}/i/${SHOWN_ID}`]) {
    expect((await fetch(url)).headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})
