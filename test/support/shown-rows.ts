import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { DashboardList, ListFilter, ShownRow } from './dashboard-lists.ts'

/** Reads the rows of a list as they are shown; null while it loads or shows rows of another filter greyed out. */
export async function shownRows(
  page: Page,
  { rows }: Pick<DashboardList, 'rows'>,
): Promise<readonly ShownRow[] | null> {
  return await page.evaluate<readonly ShownRow[] | null>(`(() => {
    if (document.querySelector('main [aria-busy="true"]') !== null || document.querySelector('main h1') === null) return null
    return [...document.querySelectorAll(${JSON.stringify(rows)})].map((row) => {
      const fields = [...row.querySelectorAll('[data-label]')]
      const cells = fields.length === 0 ? [['row', row.innerText]] : fields.map((cell) => [cell.dataset.label, cell.innerText.trim()])
      const times = fields.flatMap((cell) => {
        const time = cell.querySelector('time')
        return time === null ? [] : [[cell.dataset.label, Date.parse(time.dateTime)]]
      })
      return { id: row.dataset.rowId, cells: Object.fromEntries(cells), times: Object.fromEntries(times) }
    })
  })()`)
}

/** The button that leads to the next page of a list with the newest rows first. */
export const OLDER = { name: /^(Older|More)$/ }

/** Every row of a list, over all of its pages, in its order. */
export async function everyRow(
  page: Page,
  list: DashboardList,
  next: { readonly name: RegExp | string } = OLDER,
): Promise<readonly ShownRow[]> {
  const rows = new Map<string, ShownRow>()
  const older = page.getByRole('button', next)
  for (;;) {
    const before = rows.size
    const readNew = async () => {
      for (const row of (await shownRows(page, list)) ?? []) rows.set(row.id, row)
      return rows.size
    }
    await expect.poll(readNew).toBeGreaterThan(before)
    if (!(await older.isEnabled())) return [...rows.values()]
    await older.click()
  }
}

/** Chooses as a person does: in a select, by typing, by a tab or a button. */
export async function choose(
  page: Page,
  { control, label }: Pick<ListFilter, 'control' | 'label'>,
  value: string,
): Promise<void> {
  const main = page.locator('main')
  if (control === 'select') await main.getByLabel(label, { exact: true }).selectOption(value)
  else if (control === 'dates') {
    const [first = '', last = ''] = value.split('/')
    await main.getByLabel(label, { exact: true }).selectOption(value === '/' ? 'any' : 'dates')
    if (value === '/') return
    await main.getByLabel(`${label} from`, { exact: true }).fill(first)
    await main.getByLabel(`${label} until`, { exact: true }).fill(last)
  } else if (control === 'tab') await tab(page, value).click()
  else if (control === 'button') await main.getByRole('button', { name: new RegExp(`^${value}( \\d+)?$`) }).click()
  else {
    const field = main.getByLabel(label, { exact: true })
    await field.fill(value)
    await field.press('Enter')
  }
}

/** Whether the control has this choice in this list: an endpoint of test mode is none in live mode. */
export async function offers(
  page: Page,
  { control, label }: Pick<ListFilter, 'control' | 'label'>,
  value: string,
): Promise<boolean> {
  if (control !== 'select') return true
  return (await page.locator('main').getByLabel(label, { exact: true }).locator(`option[value="${value}"]`).count()) > 0
}

/** The number that a tab or button shows beside its word; null when it shows none. */
export async function countOf(
  page: Page,
  { control }: Pick<ListFilter, 'control'>,
  value: string,
): Promise<number | null> {
  if (control !== 'tab' && control !== 'button') return null
  const element =
    control === 'tab'
      ? tab(page, value)
      : page.locator('main').getByRole('button', { name: new RegExp(`^${value}( \\d+)?$`) })
  const count = /(\d+)$/.exec((await element.textContent()) ?? '')?.[1]
  return count === undefined ? null : Number(count)
}

const tab = (page: Page, word: string) =>
  page.locator('main .pm-tabs a').filter({ hasText: new RegExp(`^${word}[\\d,+]*$`) })

/** How much of an element lies in the window: 1 = all of it, or all that fits; and whether its top left corner does. */
export async function inView(page: Page, selector: string): Promise<boolean> {
  return await page.evaluate<boolean>(`(() => {
    const element = document.querySelector(${JSON.stringify(selector)})
    if (element === null) return false
    const { top, left, width, height } = element.getBoundingClientRect()
    const { innerWidth, innerHeight } = window
    if (width === 0 || height === 0 || top < 0 || left < 0 || top >= innerHeight || left >= innerWidth) return false
    const seen = document.elementFromPoint(Math.min(left + width / 2, innerWidth - 2), Math.min(top + 12, innerHeight - 2))
    return seen !== null && element.contains(seen)
  })()`)
}
