import { afterEach, expect, it } from 'vitest'
import { type HealthServer, type ReadinessCheck, startHealthServer } from './health.ts'
import { createMetrics } from './metrics.ts'

let server: HealthServer | undefined
afterEach(() => server?.stop())

async function get(path: string, checks: Record<string, ReadinessCheck> = {}) {
  server = await startHealthServer({ port: 0, metrics: createMetrics(), checks, checkTimeoutMs: 20 })
  const response = await fetch(`${server.url}${path}`)
  return { status: response.status, body: await response.text() }
}

it('is ready when every check is', async () => {
  expect(await get('/readyz', { mongo: () => null, redis: async () => null })).toEqual({
    status: 200,
    body: '{"ready":true,"reasons":{}}',
  })
})

it('says why it is not ready: a reason, an error, a check that hangs', async () => {
  const { status, body } = await get('/readyz', {
    mongo: () => 'no primary',
    redis: () => Promise.reject(new Error('refused')),
    node: () => new Promise(() => {}),
    rates: () => null,
  })
  expect(status).toBe(503)
  expect(JSON.parse(body).reasons).toEqual({ mongo: 'no primary', redis: 'refused', node: 'no answer within 20 ms' })
})

it('serves liveness and metrics, and 404 elsewhere', async () => {
  expect((await get('/livez')).status).toBe(200)
  expect((await get('/metrics')).body).toContain('process_cpu')
  expect((await get('/else')).status).toBe(404)
})

// Guarantee: a process whose loop died is restarted; readiness is a question of its own.
it('says which loop no longer turns', async () => {
  const silent = () => ({ 'sweep:outbox': 'no progress for 61 s' })
  server = await startHealthServer({ port: 0, metrics: createMetrics(), checks: {}, silent })
  const live = await fetch(`${server.url}/livez`)
  expect(live.status).toBe(503)
  expect(await live.json()).toEqual({ live: false, silent: { 'sweep:outbox': 'no progress for 61 s' } })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
})
