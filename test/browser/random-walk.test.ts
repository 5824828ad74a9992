import { expect, test } from 'vitest'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { walk } from '#test/support/random-walk.ts'
import { useListSeed } from '#test/support/use-list-seed.ts'
import { plannedWalks } from '#test/support/walk-plan.ts'

const browser = useBrowser()
const opened = useListSeed(browser, 'walk')
/** A walk of 200 steps, as at night, on a busy machine. */
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

/** A control whose place changes at once after somebody looked at it, as when a list shows a new row. */
const RESTLESS = `<!doctype html><html lang="en"><title>Restless</title><meta name="viewport" content="width=device-width, initial-scale=1">
<main><h1>Restless</h1><label>Which <select><option>One</option><option>Two</option></select></label></main>
<script>
const main = document.querySelector('main')
const button = Object.assign(document.createElement('button'), { textContent: 'New' })
const { scrollIntoView } = Element.prototype
Element.prototype.scrollIntoView = function (...options) {
  scrollIntoView.apply(this, options)
  setTimeout(() => (button.isConnected ? button.remove() : main.prepend(button)))
}
</script>`

test('a walk uses the control that it drew, though the page has moved it', async () => {
  const page = await browser.open()
  const plan = { seed: 1, steps: 19, widths: [1280] }
  expect(await walk(page, plan, [`data:text/html,${encodeURIComponent(RESTLESS)}`])).toBeNull()
})
