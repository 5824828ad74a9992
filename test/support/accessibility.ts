import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** What can differ between themes and widths; everything else is the same in the same document. */
const LOOKS = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable']

/** What to ask of a page that is looked at in the light theme first: another one changes how things look and nothing else. */
export const rulesOf = (theme: 'light' | 'dark') => (theme === 'light' ? 'all' : 'looks')

/** Takes most of axe's time: it asks what lies under each text. */
const CONTRAST = 'color-contrast'
/** Where the contrast of texts is measured when only a dialog is new on the page. */
const DIALOG = '[role="dialog"]'

/**
 * What axe finds wrong on the page as it is now, one line each; empty when nothing. `looks` asks only for what theme and width decide;
 * `isInDialog`: the page behind the open dialog was looked at without it, and is measured no second time.
 */
export async function axeViolations(
  page: Page,
  what: 'all' | 'looks' = 'all',
  { isInDialog = false }: { readonly isInDialog?: boolean } = {},
): Promise<readonly string[]> {
  await transitionsEnd(page)
  // A document that was looked at before has axe already, half a megabyte of script; this takes its place then.
  const known = (await page.evaluate('typeof window.axe === "object"')) ? { axeSource: 'true' } : {}
  await barsFollow(page, true)
  await markTwins(page)
  // Without frames the legacy mode finds the same in half the time; selectors of what is right are not made.
  const axe = (source = {}) =>
    new AxeBuilder({ page, ...source }).setLegacyMode(true).options({ resultTypes: ['violations'] })
  const rules = axe(known)
  const rest =
    what === 'all'
      ? rules.withTags(TAGS).disableRules(CONTRAST)
      : rules.withRules(LOOKS.filter((rule) => rule !== CONTRAST))
  const contrast = axe({ axeSource: 'true' }).withRules(CONTRAST).exclude('[data-twin]')
  if (isInDialog) contrast.include(DIALOG)
  const violations = [...(await rest.analyze()).violations, ...(await contrast.analyze()).violations]
  await barsFollow(page, false)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary?.replaceAll('\n', ' ')}`),
  )
}

/**
 * Marks rows that look like an earlier one of their list, element by element: of these the contrast is measured once. A list of fifty rows
 * has about ten that differ.
 */
async function markTwins(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    for (const row of document.querySelectorAll('[data-twin]')) row.removeAttribute('data-twin')
    const known = new Map()
    const LOOK = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'fontSize', 'fontWeight', 'visibility', 'display', 'textShadow']
    const lookOf = (element) => {
      const style = getComputedStyle(element)
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
      return element.tagName + hasText + element.getAttribute('class') + LOOK.map((name) => style[name]).join()
    }
    for (const row of document.querySelectorAll('main tbody tr, main [data-row-id]')) {
      const look = [row, ...row.querySelectorAll('*')].map(lookOf).join()
      const seen = known.get(row.parentElement) ?? new Set()
      known.set(row.parentElement, seen)
      if (seen.has(look)) row.setAttribute('data-twin', '')
      seen.add(look)
    }
  })()`)
}

/**
 * Puts bars that stay at an edge of the screen where they are in the document, and back: wherever a list is scrolled to, such a bar covers a
 * part of some row, which axe takes for a small target.
 */
async function barsFollow(page: Page, isFollowing: boolean): Promise<void> {
  await page.evaluate(`(() => {
    if (${!isFollowing}) {
      for (const bar of document.querySelectorAll('[data-follows]')) {
        bar.style.removeProperty('position')
        bar.removeAttribute('data-follows')
      }
      return
    }
    for (const bar of document.querySelectorAll('nav, header, footer')) {
      const { position } = getComputedStyle(bar)
      if (position !== 'fixed' && position !== 'sticky') continue
      if (bar.offsetWidth < 0.9 * innerWidth || bar.offsetHeight > 0.2 * innerHeight) continue
      bar.style.setProperty('position', 'static')
      bar.setAttribute('data-follows', '')
    }
  })()`)
}

/**
 * Resolves when no colour is still on its way to another: halfway between two themes nothing has its contrast. A change that was made
 * a moment ago starts its transition with the next frame, and the end of one may start another.
 */
async function transitionsEnd(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next))
    for (let round = 0; round < 50; round += 1) {
      await frame()
      await frame()
      const running = document.getAnimations().filter((one) => one instanceof CSSTransition && one.playState === 'running')
      if (running.length === 0) return
      await Promise.all(running.map((one) => one.finished.catch(() => null)))
    }
  })()`)
}

/** Shows a page of the dashboard in a theme, and resolves when its script has taken the theme over, which is later than the browser has. */
export async function showTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
}

/** Whether every width is looked at in every theme, as `EVERY_LOOK=1` of the deep tier asks; else each of both once. */
export const EVERY_LOOK = process.env['EVERY_LOOK'] === '1'

/** Words of elements that stand on more than one line. */
export async function brokenWords(page: Page, selector: string): Promise<readonly string[]> {
  return await page.evaluate<readonly string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .flatMap((one) => [...one.childNodes].filter(({ nodeType }) => nodeType === 3))
    .flatMap((text) => [...text.data.matchAll(/[^ ]+/g)].filter(({ 0: word, index }) => {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1
    }).map(([word]) => word))`)
}

/** How many pixels the page can be scrolled sideways. */
export async function sidewaysPixels(page: Page): Promise<number> {
  return await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

/** The windows that every page is looked at in, and their themes in `npm test`: each width and each theme once. */
export const WINDOWS = [
  { width: 1280, height: 800, themes: ['light'] },
  { width: 390, height: 844, themes: ['dark'] },
] as const
const THEMES = ['light', 'dark'] as const

/** What was found in one look. */
export interface LookFault {
  readonly width: number
  readonly theme?: 'light' | 'dark'
  readonly found: readonly string[]
}

/**
 * Looks at what a page of the dashboard shows now, in every window and, with `EVERY_LOOK=1`, in both themes: what axe finds, and whether
 * anything leads beyond the window's edge. Empty when nothing is wrong. A width may change what the page is made of, a theme only how it looks.
 */
export async function looksOf(
  page: Page,
  options: { readonly isInDialog?: boolean; readonly windows?: readonly (typeof WINDOWS)[number][] } = {},
): Promise<readonly LookFault[]> {
  const { windows = WINDOWS, ...where } = options
  const faults: LookFault[] = []
  // The pointer rests where it clicked last: under it another window has something else, whose tooltip would come with the next look.
  await page.mouse.move(0, 0)
  for (const { width, height, themes } of windows) {
    await page.setViewportSize({ width, height })
    await settled(page)
    for (const [turn, theme] of (EVERY_LOOK ? THEMES : themes).entries()) {
      await showTheme(page, theme)
      const found = await axeViolations(page, turn === 0 ? 'all' : 'looks', where)
      if (found.length > 0) faults.push({ width, theme, found })
    }
    const sideways = await sidewaysPixels(page)
    if (sideways !== 0) faults.push({ width, found: [`${sideways} pixels beyond the window's edge`] })
  }
  return faults
}

/** Resolves when the page shows its content: a heading, and nothing that is still loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  const busy = page.locator('[aria-busy="true"], .mantine-Skeleton-root')
  while ((await busy.count()) > 0) await busy.first().waitFor({ state: 'detached' })
}
