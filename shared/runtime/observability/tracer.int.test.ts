import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import type { Span } from '#shared/ports/runtime.ts'
import { createMetrics } from './metrics.ts'
import { createTracer, type TraceSampling } from './tracer.ts'

const INVOICE = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
const FLUSH_EVERY_MS = 20
const endings: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

interface SpanRecord {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code: number }
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
}

/** A collector that keeps what it takes. */
async function collector(status = 200) {
  const spans: SpanRecord[] = []
  const seen: { resource?: unknown; key?: unknown } = {}
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
      seen.resource = body.resourceSpans[0].resource
      seen.key = request.headers['api-key']
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endings.push(() => new Promise((resolve) => server.close(resolve)))
  return { spans, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function tracer(url: string, sampling: TraceSampling = { sampler: 'parentbased_always_on', share: 1 }) {
  const metrics = createMetrics({ defaults: false })
  const running = createTracer({
    ...{ url, process: 'webhooks', metrics, sampling, flushEveryMs: FLUSH_EVERY_MS, headers: { 'api-key': 'k y' } },
    instance: { id: 'host:7', host: 'host', version: '1.2.3' },
  })
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

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true }

// Guarantee: one trace leads from a request to its webhooks, and the caller's own trace leads to it, with nothing of it stored.
it('puts a request into the trace of its caller too, linked with the one of the invoice', async () => {
  const { spans, seen, url } = await collector()
  const { running } = tracer(url)
  running.record(span({ name: 'POST /invoices', kind: 'server', root: true, parent: CALLER }))
  running.record(span({ name: 'GET /rates', invoiceId: null, kind: 'server', parent: CALLER }))
  running.record(span())
  await vi.waitFor(() => expect(spans).toHaveLength(4))
  const [created, inCaller, rates, attempt] = spans
  expect(inCaller).toMatchObject({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId })
  expect(inCaller?.links).toEqual([{ traceId: created?.traceId, spanId: created?.spanId }])
  expect(created?.links).toEqual([{ traceId: CALLER.traceId, spanId: inCaller?.spanId }])
  expect(attempt).toMatchObject({ traceId: created?.traceId, parentSpanId: created?.spanId })
  expect(rates).toMatchObject({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId })
  expect(seen.key).toBe('k y')
  for (const [key, stringValue] of [
    ['service.instance.id', 'host:7'],
    ['service.version', '1.2.3'],
    ['host.name', 'host'],
  ])
    expect(seen.resource).toMatchObject({ attributes: expect.arrayContaining([{ key, value: { stringValue } }]) })
})

it.each<[TraceSampling['sampler'], boolean, number, number]>([
  ['always_off', true, 0, 0],
  ['always_on', false, 100, 100],
  ['parentbased_always_off', true, 0, 100],
  ['parentbased_always_on', false, 100, 0],
  ['traceidratio', true, 25, 0],
])('samples by %s when the caller’s flag is %s', async (sampler, isSampled, ofInvoices, ofCaller) => {
  const { spans, url } = await collector()
  const { running } = tracer(url, { sampler, share: 0.25 })
  const parent = { ...CALLER, isSampled }
  // Times and random parts of ids of version 7, evenly spread.
  for (let n = 0; n < 100; n += 1) {
    const tail = Math.floor((n / 100) * 16 ** 14)
      .toString(16)
      .padStart(14, '0')
    const invoiceId = `01920a5e-4c7b-7d3a-9f${tail.slice(0, 2)}-${tail.slice(2)}`
    running.record(span({ name: 'POST /invoices', kind: 'server', root: true, invoiceId, parent }))
  }
  await running.stop()
  expect(spans.filter(({ traceId }) => traceId !== CALLER.traceId)).toHaveLength(ofInvoices)
  expect(spans.filter(({ traceId }) => traceId === CALLER.traceId)).toHaveLength(ofCaller)
})
