import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { MANNERS, type Receivers, startReceivers } from './receivers.ts'

const http = createWebhookHttp()
let receivers: Receivers
beforeAll(async () => {
  receivers = await startReceivers(() => 0)
})
afterEach(() => void vi.useRealTimers())
afterAll(() => Promise.all([http.close(), receivers.close()]))

// The chaos rig goes by the receiver's clock only where the sender got the receiver's answer: this is the case where it did not.
it('a sender notices a half-closed link before a slow receiver has answered', async () => {
  // The slow receiver answers when the test moves the clock.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const sent = http.post({
    url: receivers.urls.slow,
    headers: { 'x-webhook-id': 'whd_1', 'content-type': 'application/json' },
    body: Buffer.from('{"id":"evt_1"}'),
    timeoutMs: 10_000,
    maxResponseBytes: 1_000,
    allowLocalhost: true,
  })
  while (receivers.arrivals.length === 0) await new Promise((resolve) => setImmediate(resolve))
  receivers.links[MANNERS.indexOf('slow')]?.fail({ kind: 'half_close' })
  expect(await sent).toMatchObject({ outcome: 'failed' })
  const [arrival] = receivers.arrivals
  expect(arrival?.answeredAtMs).toBe(arrival?.startedAtMs)
  vi.advanceTimersByTime(1_000)
  expect(arrival?.status).toBe(200)
  expect(arrival?.answeredAtMs).toBeGreaterThan(arrival?.startedAtMs ?? 0)
})
