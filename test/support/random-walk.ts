import type { Page } from 'playwright-core'
import { axeViolations, settled, sidewaysPixels } from './accessibility.ts'
import { EVERY_CASE } from './every-case.ts'
import type { Walk } from './walk-plan.ts'

/** What is wrong after a step, and how it was reached. */
export interface WalkProblem {
  readonly seed: number
  readonly step: number
  readonly url: string
  /** The latest actions, newest last. */
  readonly path: readonly string[]
  readonly found: readonly string[]
}

/** A control that somebody could use now. */
interface Control {
  readonly kind: 'click' | 'select' | 'type'
  readonly name: string
  readonly options: readonly string[]
}

/** The variable of the page that holds the element of the control drawn last. */
const DRAWN = '__drawnControl'
/** So many steps after which the walk goes on from a page of the list, so that no corner holds it for long. */
const STRIDE = 20
const LATEST = 12
/** Axe looks at each state in the deep tier, and at every eighth one in `npm test`. */
const AXE_STRIDE = EVERY_CASE ? 1 : 8
/** Behind an open dialog hundreds of controls are covered: so many are drawn at random. */
const DRAWS = 200
const HEIGHT = 900
/** Ends sessions, changes the password that later steps need, or leaves the dashboard. */
const LEFT_OUT = 'a[download], a[target], a[href^="http"], a[href^="mailto"]'
const LEFT_OUT_LABELS = '^(Log out|Log out all others|Change password)$'
const CONTROLS = 'a[href], button, select, input, textarea, summary, [role="menuitem"], [role="option"], [role="tab"]'
const TEXTS = ['1', '12.50', 'a@b.example', '<b>x</b>', '0xdeadbeef', '2026-11-01', '=1+1']

/**
 * Uses enabled controls at random and looks at the page after each: a console error, a 5xx, sideways scrolling, an empty main region and,
 * once for each state of a page (every eighth state in `npm test`), an axe violation end the walk with a problem. Null when all steps
 * went well.
 */
export async function walk(
  page: Page,
  { seed, steps, widths }: Walk,
  pages: readonly string[],
): Promise<WalkProblem | null> {
  const random = mulberry32(seed)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const path: string[] = []
  const heard: string[] = []
  const evaluated = new Set<string>()
  listen(page, (problem) => heard.push(problem))
  for (let step = 0; step < steps; step += 1) {
    const width = widths[Math.floor((step * widths.length) / steps)] ?? 1280
    if (page.viewportSize()?.width !== width) await page.setViewportSize({ width, height: HEIGHT })
    const control = step % STRIDE === 0 ? undefined : await drawControl(page, random)
    if (control === undefined) {
      const url = pick(pages) ?? ''
      path.push(`open ${new URL(url).pathname}`)
      await page.goto(url)
    } else {
      path.push(`${control.kind} ${control.name}`)
      await act(page, control, pick(control.kind === 'type' ? TEXTS : control.options) ?? '')
    }
    const found = [...heard, ...(await faultsOf(page, evaluated))]
    if (found.length > 0) return { seed, step, url: page.url(), path: path.slice(-LATEST), found }
  }
  return null
}

function listen(page: Page, report: (problem: string) => void): void {
  page.on('pageerror', (error) => report(`threw: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) report(message.text())
  })
  page.on('response', (response) => {
    if (response.status() >= 500) report(`${response.status()}: ${response.url()}`)
  })
}

/**
 * One of the controls that are enabled, seen and not covered, each as likely as any other; undefined when there is none. `DRAWN` holds its
 * element. Whether a control can be used is asked only of those drawn: to scroll to each of three hundred takes longer than to use one.
 */
async function drawControl(page: Page, random: () => number): Promise<Control | undefined> {
  const draws = Array.from({ length: DRAWS }, random)
  const control = await page.evaluate<Control | null>(`(() => {
    const leftOut = new RegExp(${JSON.stringify(LEFT_OUT_LABELS)})
    const all = [...document.querySelectorAll(${JSON.stringify(CONTROLS)})]
    const describe = (element) => {
      const name = (element.getAttribute('aria-label') || element.innerText || element.name || element.tagName).trim().slice(0, 60)
      if (element.matches(':disabled, [inert] *, [aria-disabled="true"]') || element.matches(${JSON.stringify(LEFT_OUT)})) return null
      if (leftOut.test(name) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return null
      element.scrollIntoView({ block: 'center', inline: 'nearest' })
      const { left, top, width, height } = element.getBoundingClientRect()
      const hit = document.elementFromPoint(left + width / 2, top + height / 2)
      if (width < 2 || height < 2 || hit === null || !(element.contains(hit) || hit.contains(element))) return null
      const options = element.tagName === 'SELECT' ? [...element.options].filter((one) => !one.disabled).map((one) => one.value) : []
      const isText = element.matches('textarea, input:not([type=checkbox]):not([type=radio]):not([type=file])') && !element.readOnly
      // The element, not its place: what is drawn meanwhile, such as a new row, moves places.
      window.${DRAWN} = element
      return { name, options, kind: options.length > 0 ? 'select' : isText ? 'type' : 'click' }
    }
    const left = [...all]
    // Behind the draws, whatever is left in its order.
    for (const draw of [...${JSON.stringify(draws)}, ...all.map(() => 0)]) {
      const [element] = left.splice(Math.floor(draw * left.length), 1)
      const control = element === undefined ? null : describe(element)
      if (control !== null) return control
    }
    return null
  })()`)
  return control ?? undefined
}

/** Uses a control; one that went away meanwhile is not used. */
async function act(page: Page, { kind }: Control, value: string): Promise<void> {
  const element = (await page.evaluateHandle(`window.${DRAWN}`)).asElement()
  if (element === null) return
  const options = { timeout: 2_000 }
  const done =
    kind === 'select'
      ? element.selectOption(value, options)
      : kind === 'type'
        ? element.fill(value, options)
        : element.click(options)
  await done.catch((error: Error) => {
    if (
      error.name !== 'TimeoutError' &&
      !/not attached to the DOM|context was destroyed|Malformed value/.test(error.message)
    )
      throw error
  })
}

async function faultsOf(page: Page, evaluated: Set<string>): Promise<readonly string[]> {
  await settled(page)
  const found: string[] = []
  const sideways = await sidewaysPixels(page)
  if (sideways > 0) found.push(`scrolls sideways by ${sideways} pixels`)
  // A page that is loaded for the first time takes the time that a busy machine needs.
  const shown = page.locator('main').first().filter({ hasText: /\S/ })
  const isEmpty = await shown.waitFor({ timeout: 30_000 }).then(
    () => false,
    () => true,
  )
  if (isEmpty) found.push('the main region is empty')
  const state = await stateOf(page)
  if (evaluated.has(state)) return found
  evaluated.add(state)
  if (evaluated.size % AXE_STRIDE !== 0) return found
  // What pops up for a moment, such as a menu or a tooltip, needs no landmark; pages without popups are looked at in every-page.test.ts.
  return [...found, ...(await axeViolations(page)).filter((violation) => !violation.startsWith('region '))]
}

/** Names what kind of page this is and what is open on it; ids do not make another one. */
async function stateOf(page: Page): Promise<string> {
  const path = new URL(page.url()).pathname.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|whd_\w+/g, 'id')
  const open = await page.locator('[role="dialog"] h2, main h2, [role="menu"]').allTextContents()
  return `${path} ${[...new Set(open.map((text) => text.replaceAll(/[\d.,#]+/g, '').slice(0, 40)))].join('|')}`
}

/** A small generator with one number of state (Tommy Ettinger, public domain): 0 ≤ x < 1. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
