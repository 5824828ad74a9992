import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, expect, it, vi } from 'vitest'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { observeRequests } from './http-server.ts'

let stop: () => void = () => undefined
afterEach(() => stop())

// Guarantee: label values are route templates of ours, whatever callers ask for.
it('counts requests under their route template, and streams not at all', async () => {
  const metrics = createMetrics({ defaults: false })
  const app = express()
  app.get('/i/:id', (_request, response) => void response.send('ok'))
  app.get('/live', (_request, response) => void response.type('text/event-stream').send(''))
  const server = createServer(app)
  observeRequests(server, metrics, ['/trpc'])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stop = () => server.close()
  const request = async (path: string, method = 'GET') =>
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method })).text()
  await Promise.all([
    request('/i/1'),
    request('/i/2'),
    request('/live'),
    request('/made/up'),
    request('/trpc/made.up', 'POST'),
  ])
  await vi.waitFor(async () => {
    const text = await metrics.render()
    const counts = text.split('\n').filter((line) => line.startsWith('paymesh_http_request_seconds_count'))
    expect(counts.sort()).toEqual([
      'paymesh_http_request_seconds_count{operation="GET /i/:id",status="200"} 2',
      'paymesh_http_request_seconds_count{operation="GET other",status="404"} 1',
      'paymesh_http_request_seconds_count{operation="POST /trpc",status="404"} 1',
    ])
  })
})
