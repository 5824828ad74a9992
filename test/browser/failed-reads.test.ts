import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_DIALOGS } from '#test/support/dashboard-dialogs.ts'
import { DASHBOARD_PAGES, dashboardPath, RECORD_PAGES, type RecordPage } from '#test/support/dashboard-pages.ts'
import { namedOf } from '#test/support/depth.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'

const browser = useBrowser()
const opened = useListSeed(browser)
const SLOW_MACHINE_MS = 300_000

const PLACES: readonly (readonly [string, RecordPage])[] = [
  ...Object.entries(DASHBOARD_PAGES).map(([name, path]) => [name, { path }] as const),
  ...Object.entries(RECORD_PAGES),
  ...DASHBOARD_DIALOGS.filter(({ isPhone, button }) => isPhone !== true && button !== undefined).map(
    ({ page: path, button = '', title }) =>
      [
        `dialog: ${title}`,
        {
          path,
          open: async (page: Page) => await page.getByRole('button', { name: button, exact: true }).first().click(),
        },
      ] as const,
  ),
]

const FAILURE = { error: { message: 'Something failed.', code: -32603, data: { code: 'INTERNAL_SERVER_ERROR' } } }

/** Visits a place where the read `failing` is answered with an error, alone of its batch; the reads that were answered. */
async function visit({ path, open }: RecordPage, failing: string | null) {
  const { dev, seed, storageState } = opened()
  const page = await browser.open({ session: storageState, width: 1280 })
  const reads = new Set<string>()
  await page.route(/\/trpc\/[^?]*\?batch=1/, async (route) => {
    const names = new URL(route.request().url()).pathname.split('/trpc/')[1]?.split(',') ?? []
    for (const name of names) reads.add(name)
    const response = await route.fetch()
    const answers = failing === null || !names.includes(failing) ? null : ((await response.json()) as unknown[])
    if (answers === null) return await route.fulfill({ response })
    const json = answers.map((answer, at) => (names[at] === failing ? FAILURE : answer))
    await route.fulfill({ status: 207, json })
  })
  const place = typeof path === 'string' ? path : path(seed)
  await page.goto(`${dev.adminUrl}${dashboardPath(place, seed.workspaceId, 'test')}`)
  const quiet = () => page.waitForLoadState('networkidle')
  await quiet()
  const said = page.getByText(SAID).first()
  if ((await said.count()) === 0 && open !== undefined) {
    await open(page).catch((fault: unknown) => {
      if (failing === null) throw fault
    })
    await quiet()
  }
  return { page, reads, said }
}

const SAID = /Could not (load|refresh)/
const PATIENCE = { timeout: 10_000 }

// Guarantee: a read that fails is said on its page, and never looks like an answer with nothing in it: every read of every page and drawer,
// one after the other.
test.each(namedOf(PLACES, 'overview', 'new-invoice', 'deliveries', 'settlements'))(
  '%s says that one of its reads failed',
  async (name, place) => {
    const first = await visit(place, null)
    expect([name, await first.said.count()]).toEqual([name, 0])
    await first.page.close()
    expect(first.reads.size).toBeGreaterThan(0)
    const silent: string[] = []
    for (const read of first.reads) {
      const { page, said } = await visit(place, read)
      await said.waitFor(PATIENCE).catch(() => silent.push(read))
      await page.close()
    }
    expect([name, silent]).toEqual([name, []])
  },
  SLOW_MACHINE_MS,
)
