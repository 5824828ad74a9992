import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createHttpEndpoint } from './http-endpoint.ts'

const LARGE = 30 * 2 ** 20
const UNCOUNTED = { metrics: { count: () => {}, gauge: () => {}, observe: () => {} }, labels: {} }

const server = createServer((request, response) => {
  void once(request.resume(), 'end').then(() => {
    if (request.url === '/small') response.end('{}')
    else begin(response)
  })
})
let begin: (response: ServerResponse) => void

beforeEach(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

// Guarantee: however many nodes answer at the same time, one large answer is in memory and not all of them.
it('reads a large answer when the one before it was dealt with, and small ones meanwhile', async () => {
  const answers: ServerResponse[] = []
  const arrived = new Promise<void>((resolve) => {
    begin = (response) => {
      response.writeHead(200, { 'content-length': LARGE })
      // The first one stops half way.
      response.write(Buffer.alloc(answers.length === 0 ? LARGE / 2 : LARGE, 32))
      if (answers.push(response) === 2) resolve()
    }
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const nodes = [createHttpEndpoint(url, UNCOUNTED), createHttpEndpoint(url, UNCOUNTED)] as const
  const read: string[] = []
  const request = async (node: (typeof nodes)[number], name: string, path: string) => {
    const { text } = await node.post({ what: name, path, body: {}, timeoutMs: 30_000 })
    read.push(name)
    return text.length
  }
  const first = request(nodes[0], 'first', '/large')
  await request(nodes[0], 'small', '/small')
  const second = request(nodes[1], 'second', '/large')
  await arrived
  for (let round = 0; round < 100; round += 1) await request(nodes[0], 'small', '/small')
  expect(new Set(read)).toEqual(new Set(['small']))
  answers[0]?.end(Buffer.alloc(LARGE / 2, 32))
  expect(await Promise.all([first, second])).toEqual([LARGE, LARGE])
  expect(read.slice(-2)).toEqual(['first', 'second'])
  await Promise.all(nodes.map((node) => node.close()))
})

// Guarantee: a hostile node that answers without end costs no more memory than the question allows.
it.each([undefined, 64 * 2 ** 20])(
  'cuts an answer without end (announced: %s) behind what the question allows',
  async (announced) => {
    const MAX = 2 ** 20
    let sent = 0
    let closed: Promise<unknown> = Promise.resolve()
    begin = (response) => {
      response.writeHead(200, announced === undefined ? {} : { 'content-length': announced })
      closed = once(response, 'close')
      const more = () => {
        while (!response.destroyed && sent < 60 * MAX) {
          sent += 2 ** 16
          if (!response.write(Buffer.alloc(2 ** 16, 32))) return
        }
      }
      response.on('drain', more)
      more()
    }
    const node = createHttpEndpoint(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, UNCOUNTED)
    const pending = node.post({ what: 'trace_transaction', path: '/large', body: {}, timeoutMs: 30_000, maxBytes: MAX })
    await expect(pending).rejects.toMatchObject({ kind: 'split', method: 'trace_transaction' })
    await closed
    expect(sent).toBeLessThan(60 * MAX)
    await node.close()
  },
)

// Guarantee: what a provider bills is counted: each call, also one that failed, with the bytes of both directions.
it('counts every exchange by network, mode, provider and method', async () => {
  const metrics = createMetrics({ defaults: false })
  const { port } = server.address() as AddressInfo
  const labels = { network: 'ethereum', mode: 'live' }
  const node = createHttpEndpoint(`http://user:hunter2@127.0.0.1:${port}`, { metrics, labels })
  begin = (response) => response.destroy()
  await node.post({ what: 'eth_call', path: '/small', body: { a: 1 }, timeoutMs: 30_000 })
  await expect(node.post({ what: 'eth_call', path: '/broken', body: {}, timeoutMs: 30_000 })).rejects.toThrow()
  await node.post({ what: 'eth_getBalance', path: '/small', body: { b: [] }, timeoutMs: 30_000 })
  const text = await metrics.render()
  const value = (name: string, method: string) => {
    const series = `paymesh_${name}{network="ethereum",mode="live",provider="127.0.0.1:${port}",method="${method}"} `
    const line = text.split('\n').find((each) => each.startsWith(series))
    return line === undefined ? null : Number(line.slice(series.length))
  }
  const shown = (name: string) => ['eth_call', 'eth_getBalance', 'eth_getLogs'].map((method) => value(name, method))
  expect(shown('node_calls_total')).toEqual([2, 1, null])
  expect(shown('node_request_bytes_total')).toEqual(['{"a":1}{}'.length, '{"b":[]}'.length, null])
  expect(shown('node_response_bytes_total')).toEqual([2, 2, null])
  expect(text).not.toContain('hunter2')
  await node.close()
})

it('answers although a call cannot be counted', async () => {
  const fail = (): never => {
    throw new Error('no metrics')
  }
  const { port } = server.address() as AddressInfo
  const metrics = { count: fail, gauge: fail, observe: fail }
  const node = createHttpEndpoint(`http://127.0.0.1:${port}`, { metrics, labels: {} })
  await expect(node.post({ what: 'a', path: '/small', body: {}, timeoutMs: 30_000 })).resolves.toMatchObject({
    text: '{}',
  })
  await node.close()
})
