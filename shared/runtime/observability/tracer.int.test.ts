import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import type { Span } from '#shared/ports/runtime.ts'
import { createMetrics } from './metrics.ts'
import { createTracer } from './tracer.ts'

const INVOICE = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
const FLUSH_EVERY_MS = 20
const endings: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface Sent {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
}

/** A collector that keeps what it takes. */
async function collector(status = 200) {
  const spans: Sent[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      expect([request.method, request.url, request.headers['content-type']]).toEqual([
        'POST',
        '/v1/traces',
        'application/json',
      ])
      const body = JSON.parse(Buffer.concat(chunks).toString())
      spans.push(...body.resourceSpans[0].scopeSpans[0].spans)
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endings.push(() => new Promise((resolve) => server.close(resolve)))
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function tracer(url: string) {
  const metrics = createMetrics({ defaults: false })
  const running = createTracer({ url, process: 'webhooks', metrics, flushEveryMs: FLUSH_EVERY_MS })
  endings.push(running.stop)
  return { metrics, running }
}

const span = (change: Partial<Span> = {}): Span => ({
  name: 'webhook attempt',
  invoiceId: INVOICE,
  kind: 'client',
  durationMs: 12.5,
  failed: false,
  attributes: { eventId: 'evt_1', attempt: 1 },
  ...change,
})

it('hangs everything about one invoice below the request that created it', async () => {
  const { spans, url } = await collector()
  const { running } = tracer(url)
  running.record(span({ name: 'POST /invoices', kind: 'server', root: true }))
  running.record(span({ failed: true }))
  running.record(span({ name: 'GET /rates', invoiceId: null }))
  await vi.waitFor(() => expect(spans).toHaveLength(3))
  const [request, attempt, other] = spans
  expect(request?.traceId).toBe(INVOICE.replaceAll('-', ''))
  expect(request?.parentSpanId).toBeUndefined()
  expect(attempt).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId, status: { code: 2 } })
  expect(other?.traceId).not.toBe(request?.traceId)
  expect(BigInt(attempt?.endTimeUnixNano ?? 0) - BigInt(attempt?.startTimeUnixNano ?? 0)).toBe(12_500_000n)
})

// Guarantee: a tracing collector that is away or refuses costs neither memory nor work.
it('drops what the collector does not take, and counts it', async () => {
  const refusing = await collector(503)
  const { metrics, running } = tracer(refusing.url)
  running.record(span())
  await vi.waitFor(async () =>
    expect(await metrics.render()).toContain('paymesh_spans_exported_total{result="refused"} 1'),
  )
  const away = tracer('http://127.0.0.1:9')
  for (let n = 0; n < 5_000; n += 1) away.running.record(span())
  await away.running.stop()
  expect(await away.metrics.render()).toContain('result="dropped"')
})

it('goes on sending after a while in which there was nothing to send', async () => {
  const { spans, url } = await collector()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  endings.push(() => vi.useRealTimers())
  const { running } = tracer(url)
  await vi.advanceTimersByTimeAsync(3 * FLUSH_EVERY_MS)
  running.record(span())
  await vi.advanceTimersByTimeAsync(FLUSH_EVERY_MS)
  await vi.waitFor(() => expect(spans).toHaveLength(1))
})
