import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DASHBOARD_PAGES } from '#test/support/dashboard-pages.ts'

/** Pages that need somebody who is not logged in. */
const WITHOUT_SESSION = ['/login', '/invitation', '/reset']
/** The frame of an address that is no page; `frame.test.ts` of the browser tests opens one. */
const NO_PAGE = '*'

// Guarantee: no page is left out where every page is visited: accessibility, widths, themes, random walks, screenshots.
test('every page of the dashboard that needs no record is visited by the browser tests', () => {
  const routes = readFileSync('services/dashboard/src/routes.tsx', 'utf8')
  // The last segment of an optional parameter may be absent; a page of one record has a required one.
  const paths = [...routes.matchAll(/\bpage\('([^']+)'/g)].flatMap(([, path = '']) =>
    /:\w+(?!\w*\?)/.test(path) ? [] : [path.replace(/\/:\w+\?$/, '')],
  )
  expect(paths.length).toBeGreaterThan(15)
  const visited = Object.values(DASHBOARD_PAGES).map((page) => page.replace(/^\//, ''))
  const missed = paths.filter(
    (path) =>
      path !== NO_PAGE && !WITHOUT_SESSION.includes(path) && !visited.some((page) => `${page}/`.startsWith(`${path}/`)),
  )
  expect(missed).toEqual([])
})
