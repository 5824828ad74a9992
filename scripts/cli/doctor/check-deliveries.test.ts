import { expect, test } from 'vitest'
import type { Installation } from '#scripts/cli/session/installation.ts'
import { standIn } from '#test/support/stand-in.ts'
import { checkDeliveries } from './check-deliveries.ts'

const NOW = 1_000_000

function installation(
  due: readonly string[],
  limited: readonly { readonly id: string; readonly isFailing?: boolean }[],
) {
  return standIn<Installation>({
    clock: standIn({ now: () => NOW }),
    deliveries: standIn({
      dueEndpoints: async () => due.map((endpointId) => ({ endpointId, dueAt: NOW - 75_000 })),
    }),
    deliveryReads: standIn({ countCreated: async () => 24 * 60 }),
    limitedEndpoints: standIn({
      list: async () =>
        limited.map(({ id, isFailing = false }) => ({
          ...{ id, workspaceId: 'ws', url: 'https://shop.test/hook?token=hush', since: 0 },
          ...{ limit: 64, latencyMs: 700, isFailing },
        })),
    }),
  })
}

test('an endpoint at its own limit is named with what it needs, and is no fault', async () => {
  expect(await checkDeliveries(installation(['ep'], [{ id: 'ep' }, { id: 'keeps-up' }]))).toBe(
    'warning: endpoint ep (shop.test) answers in 700 ms and gets 24 events/s: it needs more at once than 64, or is falling behind by 75 s',
  )
  expect(await checkDeliveries(installation(['ep'], [{ id: 'ep', isFailing: true }]))).toContain(
    'times out or refuses requests and gets 24 events/s',
  )
})

test('overdue deliveries that a free place would send are a fault, beside which the others are named', async () => {
  const found = checkDeliveries(installation(['ep', 'lost'], [{ id: 'ep' }]))
  await expect(found).rejects.toThrow(
    /^1 endpoints have overdue deliveries; is webhooks running\?; warning: endpoint ep/,
  )
  expect(await checkDeliveries(installation([], []))).toBe('nothing is overdue')
})

test('of many endpoints at their limit five are named', async () => {
  const ids = Array.from({ length: 200 }, (_, at) => `ep-${at}`)
  const found = await checkDeliveries(
    installation(
      ids,
      ids.map((id) => ({ id })),
    ),
  )
  expect(found.match(/warning: endpoint/g)).toHaveLength(5)
  expect(found).toContain('195 more endpoints are at their own limit')
})
