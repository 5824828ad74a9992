import { expect, test } from 'vitest'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { walk } from '#test/support/random-walk.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'
import { plannedWalks } from '#test/support/walk-plan.ts'

const browser = useBrowser()
const opened = useListSeed(browser, 'walk')
/** A walk of 200 steps on a busy machine. */
const WALK_MS = 900_000

// Guarantee: whatever somebody clicks, in whatever order, no page breaks, goes blank or shuts people out.
test.each(plannedWalks(process.env))(
  'a random walk with seed $seed over $steps steps at $widths pixels breaks nothing',
  {
    timeout: WALK_MS,
  },
  async (plan) => {
    const { dev, seed, storageState } = opened()
    const page = await browser.open({ storageState })
    const pages = Object.values(DASHBOARD_PAGES)
      // Pages of the installation are not this person's.
      .filter((path) => !path.startsWith('/system'))
      .map((path) => `${dev.adminUrl}${dashboardPath(path, seed.workspaceId, 'test')}`)
    expect(await walk(page, plan, pages)).toBeNull()
  },
)
