import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axeViolations, rulesOf, settled, showTheme } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

// What a merchant reports: settlements, and sums in one currency (docs/decisions/0068-roll-ups.md).
const browser = useBrowser()
const opened = useListSeed(browser)

const open = async (path: string): Promise<Page> => {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState })
  await page.goto(`${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
  await settled(page)
  return page
}

/** `1,234.50 USD …` as cents. */
const cents = (text: string | null): bigint => {
  const amount = /([\d,]+)\.(\d\d)/.exec(text ?? '')
  return BigInt(`${amount?.[1]?.replaceAll(',', '')}${amount?.[2]}`)
}

// Guarantee: the one total is the sum of what each invoice was worth at its own stored rate, and says what it leaves out.
test('the overview adds up every currency in one, and shows what the sum is made of', async () => {
  const { seed } = opened()
  const euro = await open(`invoices/${seed.invoices['paid in ether']}`)
  const value = euro.getByText('In reports', { exact: true }).locator('xpath=following-sibling::dd[1]')
  const each = cents(await value.textContent())
  expect(await value.textContent()).toMatch(/1 EUR = \d+\.\d+ USD, rate of/)

  const page = await open('overview')
  const figure = page.getByRole('region', { name: 'Received', exact: true })
  await figure.getByText('2 currencies').click()
  const lineOf = (currency: string, words: RegExp) =>
    figure.getByRole('list', { name: currency }).getByRole('listitem').filter({ hasText: words })
  const dollars = cents(await lineOf('USD', /received$/).textContent())
  const euros = Number(/price of (\d+) paid/.exec((await lineOf('EUR', /price of/).textContent()) ?? '')?.[1])
  expect(euros).toBeGreaterThan(0)
  const total = await figure.locator('.pm-figure-value').textContent()
  expect(total).toMatch(/USD$/)
  expect(cents(total)).toBe(dollars + BigInt(euros) * each)
  await figure.getByText('Converted to USD at the exchange rate of the moment each invoice was created').waitFor()
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
  }
})

test('the rates that reports use are explained where the currency is chosen', async () => {
  const page = await open('settings/pricing')
  const choice = page.getByLabel('Reporting currency')
  expect(await choice.inputValue()).toBe('USD')
  await page.getByText('The exchange rate is stored with each invoice when it is created').waitFor()
})

// Guarantee: the file of a report is the page of it.
test('settlements are the same on the page and in the file', async () => {
  const page = await open('settlements')
  await page.getByText('A payment belongs to the day on which it was confirmed;').waitFor()
  const rows = page.locator('main [data-row-id]')
  const shown = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].map((cell) => (cell.textContent ?? '').trim())),
  )
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = await download
  expect(file.suggestedFilename()).toMatch(/^settlements_until-[0-9-]{10}_[\w-]+_test\.csv$/)
  const [heading = '', ...lines] = new TextDecoder()
    .decode(readFileSync(await file.path()))
    .trimEnd()
    .split('\r\n')
  const at = (name: string) => heading.split(',').indexOf(name)
  const filed = lines.map((line) => line.split(','))
  expect(shown.length).toBeGreaterThan(2)
  expect(filed.map((row) => [row[at('day')], row[at('network')], row[at('payments')]])).toEqual(
    shown.map((row) => [row[0], row[2], row[3]]),
  )
  expect(filed.map((row) => row[at('received_text')])).toEqual(shown.map((row) => row[4]))
  for (const theme of ['light', 'dark'] as const) {
    await showTheme(page, theme)
    expect([theme, await axeViolations(page, rulesOf(theme))]).toEqual([theme, []])
  }
})

test('days in the wrong order are named, and nothing is hidden', async () => {
  const page = await open('invoices')
  const before = await page.locator('main [data-row-id]').count()
  await page.getByLabel('Created', { exact: true }).selectOption('dates')
  await page.getByLabel('Created from').fill('2026-11-19')
  await page.getByLabel('Created until').fill('2026-11-01')
  await page.getByRole('alert').getByText('The first day is after the last one').waitFor()
  expect(await page.locator('main [data-row-id]').count()).toBe(before)
  expect(await axeViolations(page)).toEqual([])
})
