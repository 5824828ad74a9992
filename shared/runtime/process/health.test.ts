import { afterEach, expect, it } from 'vitest'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { type HealthServer, type ReadinessCheck, startHealthServer } from './health.ts'

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
    body: '{"ready":true,"reasons":{},"degraded":{}}',
  })
})

it('says why it is not ready', async () => {
  const { status, body } = await get('/readyz', { keys: () => 'the wrong key', clock: () => null })
  expect(status).toBe(503)
  expect(JSON.parse(body).reasons).toEqual({ keys: 'the wrong key' })
})

// Guarantee: a question that a hanging store leaves open takes no process out of service, or it would take out all of them at once.
it('stays ready while a check fails or hangs, and names it', async () => {
  const { status, body } = await get('/readyz', {
    prefix: () => Promise.reject(new Error('refused')),
    keys: () => new Promise(() => {}),
    clock: () => null,
  })
  expect(status).toBe(200)
  expect(JSON.parse(body)).toEqual({
    ready: true,
    reasons: {},
    degraded: { prefix: 'refused', keys: 'no result within 20 ms' },
  })
})

it('serves liveness and metrics, and 404 elsewhere', async () => {
  expect((await get('/livez')).status).toBe(200)
  expect((await get('/metrics')).body).toContain('process_cpu')
  expect((await get('/else')).status).toBe(404)
})

// Guarantee: a process whose loop died is restarted; readiness is a separate question.
it('says which loop no longer turns', async () => {
  const silent = () => ({ 'sweep:outbox': 'no progress for 61 s' })
  server = await startHealthServer({ port: 0, metrics: createMetrics(), checks: {}, silent })
  const live = await fetch(`${server.url}/livez`)
  expect(live.status).toBe(503)
  expect(await live.json()).toEqual({ live: false, silent: { 'sweep:outbox': 'no progress for 61 s' } })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
})

// Guarantee: without Redis a process goes on working, so nothing may take it out of service.
it('stays ready while only degraded, and says so', async () => {
  const degraded = { redis: () => 'takes no writes: working from the store' }
  server = await startHealthServer({ port: 0, metrics: createMetrics(), checks: {}, degraded })
  const ready = await fetch(`${server.url}/readyz`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toEqual({
    ready: true,
    reasons: {},
    degraded: { redis: 'takes no writes: working from the store' },
  })
})

it('has started once and for all', async () => {
  let reason: string | null = 'waiting for MongoDB'
  server = await startHealthServer({ port: 0, metrics: createMetrics(), checks: {}, starting: () => reason })
  const before = await fetch(`${server.url}/startupz`)
  expect([before.status, await before.json()]).toEqual([503, { started: false, reason: 'waiting for MongoDB' }])
  reason = null
  expect((await fetch(`${server.url}/startupz`)).status).toBe(200)
})
