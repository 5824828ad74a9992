import { expect, test, vi } from 'vitest'
import { createEndpointOperations } from '#shared/db/deliveries/endpoint-repository.ts'
import { useDispatchStage } from '#test/support/dispatch-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { resendDelivery } from './resend.ts'

const stores = useStores()
const { at, ports, dispatcher, given, turn, delivery } = useDispatchStage(stores)

const resend = (id: string) =>
  resendDelivery({ ...ports(), operations: createEndpointOperations(stores.db) }, { id, actor: 'cli:test' })

test('a resend is a new delivery of the same event and bytes, due at once', async () => {
  const { endpoint, only, rows } = await given(1)
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  const again = await resend(only)
  expect(again).toMatchObject({ generation: 1, eventId: rows[0]?.event.id, status: 'pending', attempt: 0 })
  expect(again.id).not.toBe(only)
  expect(at.wakeUps).toEqual([{ queue: 'webhooks', id: endpoint.id }])
  // Due at once by this process's estimate of the store's clock, which may be some milliseconds ahead.
  await vi.waitFor(async () => {
    await turn(sender, endpoint.id)
    expect(at.receiver.requests.map((request) => request.headers['x-webhook-id'])).toEqual([only, again.id])
  })
  expect(at.receiver.requests[1]?.body).toEqual(at.receiver.requests[0]?.body)
  expect((await delivery(only)).status).toBe('succeeded')
})

test('a resend of an unknown delivery, or to a deleted endpoint, is refused', async () => {
  const { endpoint, only } = await given(1)
  await expect(resend('whd_unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await ports().endpoints.remove(endpoint.id)
  await expect(resend(only)).rejects.toMatchObject({ code: 'INVALID_STATE' })
})
