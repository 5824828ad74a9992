import type { Page } from 'playwright-core'

/** A cell of a row that a phone shows as a card. */
interface CardCell {
  readonly table: string
  readonly column: string
  /** The column's name as the cell shows it, in view and with a size; null without one. */
  readonly named: string | null
  /** What the cell shows besides. */
  readonly value: string
  /** The value consists of badges only. */
  readonly isBadge: boolean
}

/** Numbers, amounts, ages, moments and the dashes and words that stand for none of them. */
const FIGURE = /^(?:[<≈~+−-]?\s*[\d.,]*\d|about \d|[–-]$|none\b|unknown\b|never\b|all$|today\b|yesterday\b)/i
/** Values that say what they are: a date alone is not one, and a number of an invoice is. */
const SELF_NAMING = [/^\S+@\S+\.\S+$/, /^[a-z]{2,6}_[\w…-]+$/, /^0x[\da-f]+…?[\da-f]*$/i]
const namesItself = ({ value, isBadge }: CardCell) => isBadge || SELF_NAMING.some((form) => form.test(value))

/** "156.05 USDT left to pay, 19 min left" needs no name; "97 % of the last 50" does. */
const isSentence = (value: string) => (value.split('\n')[0]?.match(/[a-z]{3,}/g) ?? []).length >= 4

/** The cells that are shown of every table whose rows are cards in this window. */
async function cardCells(page: Page): Promise<readonly CardCell[]> {
  return await page.evaluate<readonly CardCell[]>(`[...document.querySelectorAll('main table')].flatMap((table) =>
    [...table.querySelectorAll('tbody tr')].filter((row) => getComputedStyle(row).display === 'grid').flatMap((row) =>
      [...row.children].filter((cell) => cell.checkVisibility()).map((cell) => {
        const name = cell.querySelector('.pm-cell-name')
        const { width, height, left, right } = (name ?? cell).getBoundingClientRect()
        const isSeen = name !== null && width > 4 && height > 8 && left >= 0 && right <= innerWidth
        const rest = cell.cloneNode(true)
        rest.querySelector('.pm-cell-name')?.remove()
        const value = cell.innerText.trim()
        return {
          table: table.getAttribute('aria-label'),
          column: table.querySelectorAll('thead th')[cell.cellIndex]?.textContent.trim() ?? '',
          named: isSeen ? name.innerText.trim() : null,
          value: name === null ? value : value.slice(name.innerText.trim().length).trim(),
isBadge: rest.querySelector('.pm-badge') !== null && rest.textContent.trim() === [...rest.querySelectorAll('.pm-badge')].map((badge) => badge.textContent).join('').trim(),
        }
      })))`)
}

/** The names of the cells of tables, as Chromium gives them to assistive technology. */
async function cellNames(page: Page): Promise<readonly string[]> {
  const tools = await page.context().newCDPSession(page)
  const { nodes } = await tools.send('Accessibility.getFullAXTree')
  await tools.detach()
  return nodes
    .filter(({ role }) => ['cell', 'gridcell', 'rowheader'].includes(role?.value))
    .map(({ name }) => String(name?.value ?? ''))
}

/** How many tables of the page are shown as cards, by name, and what is wrong with the names of columns in their cells, one line each. */
export async function lookAtCards(page: Page): Promise<{ tables: readonly string[]; wrong: readonly string[] }> {
  const cells = await cardCells(page)
  const names = await cellNames(page)
  const wrong = cells.flatMap((cell) => {
    const { table, column, named, value } = cell
    const place = `${table}, ${column}: ${JSON.stringify(value)}`
    if (named !== null) {
      if (named !== column) return [`${place} is named ${named}`]
      // A column may have other values beside those that name themselves: then each of them has the name.
      const alike = cells.filter((other) => other.table === table && other.column === column)
      if (alike.every(namesItself)) return [`${place} names itself, and is named`]
      return names.some((name) => name.startsWith(`${column} `)) ? [] : [`${place} has the name in no accessible name`]
    }
    return !namesItself(cell) && !isSentence(value) && FIGURE.test(value) ? [`${place} has no name`] : []
  })
  return { tables: [...new Set(cells.map(({ table }) => table))].sort(), wrong }
}
