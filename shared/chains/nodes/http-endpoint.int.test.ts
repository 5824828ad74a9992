import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '#test/support/test-certificate.ts'
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
      // The first one comes slowly from half way on: one that stands still gives way.
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
  for (let round = 0; round < 128; round += 1) {
    answers[0]?.write(Buffer.alloc(LARGE / 512, 32))
    await request(nodes[0], 'small', '/small')
  }
  expect(new Set(read)).toEqual(new Set(['small']))
  answers[0]?.end(Buffer.alloc(LARGE / 4, 32))
  expect(await Promise.all([first, second])).toEqual([LARGE, LARGE])
  expect(read.slice(-2)).toEqual(['first', 'second'])
  await Promise.all(nodes.map((node) => node.close()))
})

// Guarantee: a node that drips a large response, or is silent where it was large before, delays no other node.
it.each([
  [
    'drips',
    (response: ServerResponse) =>
      void response.writeHead(200, { 'content-length': LARGE }).write(Buffer.alloc(2 ** 20, 32)),
  ],
  ['drips without saying how much', (response: ServerResponse) => void response.write(Buffer.alloc(2 ** 17, 32))],
  ['is silent', () => {}],
])('reads a large answer of one node while another one %s', async (_what, stall) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const nodes = [createHttpEndpoint(url, UNCOUNTED), createHttpEndpoint(url, UNCOUNTED)] as const
  const request = (node: (typeof nodes)[number], timeoutMs: number) =>
    node.post({ what: 'getBlock', path: '/large', body: {}, timeoutMs })
  begin = (response) => response.end(Buffer.alloc(LARGE, 32))
  for (const node of nodes) await request(node, 30_000)
  const arrived = new Promise<ServerResponse>((resolve) => {
    begin = (response) => {
      stall(response)
      resolve(response)
    }
  })
  // Longer than this test may take.
  const slow = expect(request(nodes[0], 3_600_000)).rejects.toThrow()
  const stalled = await arrived
  begin = (response) => response.end(Buffer.alloc(LARGE, 32))
  expect((await request(nodes[1], 30_000)).text).toHaveLength(LARGE)
  stalled.destroy()
  await slow
  await Promise.all(nodes.map((node) => node.close()))
})

describe('a node that sends without end what is no response', () => {
  const flood = (head: string, more: string) => (socket: Socket) => {
    socket.write(head)
    const push = () => {
      while (!socket.destroyed && socket.write(more));
      if (!socket.destroyed) socket.once('drain', push)
    }
    push()
  }
  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

  // Guarantee: it takes no processor time until the deadline.
  it.each([
    ['interim responses', flood('', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(500))],
    ['empty lines', flood('', '\r\n'.repeat(8_000))],
    ['an extension of a chunk', flood(`${CHUNKED}1;a=`, 'b'.repeat(16_000))],
    ['long extensions of short chunks', flood(CHUNKED, `1;${'a'.repeat(60)}\r\n \r\n`.repeat(300))],
  ])('%s', async (_what, answer) => {
    const sockets: Socket[] = []
    const stranger = createTcpServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {}).once('data', () => answer(socket))
    })
    await once(stranger.listen(0, '127.0.0.1'), 'listening')
    const node = createHttpEndpoint(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}`, UNCOUNTED)
    await expect(node.post({ what: 'eth_call', body: {}, timeoutMs: 20_000 })).rejects.toMatchObject({
      kind: 'retry',
      message: expect.stringContaining('more than 262144 bytes came around the response'),
    })
    await node.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => stranger.close(resolve))
  })

  it('an honest response in chunks and records of a hundred bytes is read', async () => {
    begin = (response) => {
      for (let part = 0; part < 20_000; part += 1) response.write('x'.repeat(100))
      response.end()
    }
    const node = createHttpEndpoint(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, UNCOUNTED)
    const { text } = await node.post({ what: 'eth_call', path: '/large', body: {}, timeoutMs: 30_000 })
    expect(text).toHaveLength(2_000_000)
    await node.close()
  })
})

// Guarantee: the bounds of this client are those of HTTP/1.1, so a node never chooses another version.
it('offers no HTTP/2', async () => {
  const offered: string[] = []
  const options = { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY, allowHTTP1: true }
  const secure = createSecureServer(options, ({ httpVersion }, response) => {
    offered.push(httpVersion)
    response.end('{}')
  })
  await once(secure.listen(0, '127.0.0.1'), 'listening')
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const node = createHttpEndpoint(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`, UNCOUNTED)
  await node.post({ what: 'eth_call', body: {}, timeoutMs: 30_000 })
  vi.unstubAllEnvs()
  expect(offered).toEqual(['1.1'])
  await node.close()
  await new Promise((resolve) => secure.close(resolve))
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
