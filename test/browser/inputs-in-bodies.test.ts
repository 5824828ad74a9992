import type { Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { settled } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { DASHBOARD_PAGES, dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'

const browser = useBrowser()
let dev: DevInfo
beforeAll(async () => {
  dev = await ownWorkspace()
})

// Guarantee: URLs, which proxies log, hold nothing that a person looked for or typed.
test('every page sends its inputs in bodies; a live view names a workspace and a place', {
  timeout: 300_000,
}, async () => {
  const page = await browser.open()
  const requests: Request[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/trpc/')) requests.push(request)
  })
  await logIn(page, dev)
  for (const path of Object.values(DASHBOARD_PAGES)) {
    await page.goto(`${dev.adminUrl}${dashboardPath(path, dev.workspaceId, 'test')}`)
    await settled(page)
  }
  await page.goto(`${dev.adminUrl}${dashboardPath('payments', dev.workspaceId, 'test')}?q=SECRET-WORD`)
  await settled(page)
  const inputs = requests.flatMap((request) => {
    const input = new URL(request.url()).searchParams.get('input')
    return input === null
      ? []
      : [{ live: request.resourceType() === 'eventsource', input: JSON.parse(input) as object }]
  })
  const live = inputs.filter((each) => each.live)
  expect(inputs.filter((each) => !each.live)).toEqual([])
  expect(live.length).toBeGreaterThan(0)
  for (const { input } of live) {
    expect(Object.keys(input).filter((name) => !['workspaceId', 'mode', 'lastEventId'].includes(name))).toEqual([])
  }
  expect(
    requests.filter((request) => request.method() === 'POST' && request.postData() !== null).length,
  ).toBeGreaterThan(20)
  expect(requests.map((request) => request.url()).filter((url) => url.includes('SECRET-WORD'))).toEqual([])
})
