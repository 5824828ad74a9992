import { expect, test } from 'vitest'
import type { LimitedEndpoint } from '#shared/db/endpoints/limited-endpoints.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Store } from '#shared/usecases/uses.ts'
import { standIn } from '#test/support/stand-in.ts'
import { warnEndpointsBehind } from './warn-endpoints-behind.ts'

const MINUTE_MS = 60_000
const NOW = 1_796_000_000_000

interface Lag {
  readonly workspaceId?: string
  readonly sinceMs: number
  readonly dueMs: number | null
}

function world(lags: readonly Lag[]) {
  const stored = new Map<string, MailRecord>()
  const limited = lags.map(
    ({ workspaceId = 'shop', sinceMs }, at): LimitedEndpoint => ({
      ...{ id: `ep-${at}`, workspaceId, url: 'https://shop.test/hook', since: NOW - sinceMs },
      ...{ limit: 64, latencyMs: 700, isFailing: false },
    }),
  )
  const workspaces = ['shop', 'other'].map((id) => ({ id, name: id, ownerEmail: `${id}@example.com` }) as Workspace)
  const deps = (now: number) => ({
    limitedEndpoints: standIn<Store['limitedEndpoints']>({ list: async () => limited }),
    deliveries: standIn<Store['deliveries']>({
      nextDue: async (id: string) => {
        const dueMs = lags[Number(id.slice(3))]?.dueMs ?? null
        return dueMs === null ? null : NOW - dueMs
      },
    }),
    workspaces: standIn<Store['workspaces']>({
      findMany: async (ids: readonly string[]) => workspaces.filter(({ id }) => ids.includes(id)),
    }),
    mails: standIn<Store['mails']>({
      hasAny: async (ids: readonly string[]) => ids.some((id) => stored.has(id)),
      insertMany: async (rows: readonly MailRecord[]) => {
        for (const row of rows) stored.set(row.id, row)
      },
    }),
    notifier: { notify: () => undefined },
    clock: { now: () => now },
  })
  return { stored, warn: (now = NOW) => warnEndpointsBehind(deps(now)) }
}

const late = { sinceMs: 20 * MINUTE_MS, dueMs: 15 * MINUTE_MS }

test('an owner gets one mail for all endpoints that are behind, however often it is checked', async () => {
  const { stored, warn } = world([...Array.from({ length: 200 }, () => late), { ...late, workspaceId: 'other' }])
  expect(await warn()).toBe(2)
  expect(await warn(NOW + MINUTE_MS)).toBe(0)
  expect(await warn(NOW + 30 * 3_600_000)).toBe(0)
  expect([...stored.values()].map(({ to }) => to).sort()).toEqual(['other@example.com', 'shop@example.com'])
  expect(stored.values().next().value?.data).toMatchObject({
    count: '200',
    state: 'answers in 700 ms: it needs more at once than 64, or is falling behind by 900 s',
  })
})

test.each([
  ['a limit that was reached a minute ago', { sinceMs: MINUTE_MS, dueMs: 15 * MINUTE_MS }],
  ['deliveries that have not been due for long', { sinceMs: 20 * MINUTE_MS, dueMs: MINUTE_MS }],
  ['nothing that waits', { sinceMs: 20 * MINUTE_MS, dueMs: null }],
])('%s is worth no mail', async (_what, lag) => {
  expect(await world([lag]).warn()).toBe(0)
})
