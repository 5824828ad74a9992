import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpGet } from './http-get.ts'

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Asks a one-off server, once unless `times` says more; returns the last answer. */
async function send(
  listener: RequestListener,
  options: { timeoutMs?: number; maxBytes?: number; times?: number } = {},
) {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const http = createHttpGet({ userAgent: 'Test/1.0' })
  try {
    const get = () =>
      http.get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
        signal: AbortSignal.timeout(options.timeoutMs ?? 30_000),
        maxBytes: options.maxBytes ?? 1_000,
      })
    for (let count = 1; count < (options.times ?? 1); count += 1) await get()
    return await get()
  } finally {
    await http.close()
  }
}

describe('http get', () => {
  it('gives body, status and the headers that say how long to wait and how old the answer is', async () => {
    const result = await send((request, response) => {
      response.writeHead(429, { 'retry-after': '30', age: '12' })
      response.end(String(request.headers['user-agent']))
    })
    expect(result).toEqual({ outcome: 'answer', status: 429, body: 'Test/1.0', retryAfterMs: 30_000, ageSeconds: 12 })
  })

  it('reads a date in Retry-After', async () => {
    const result = await send((_, response) => {
      response.writeHead(503, { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' })
      response.end()
    })
    expect(result.outcome === 'answer' && result.retryAfterMs).toBeGreaterThan(1e12)
  })

  it('does not follow a redirect', async () => {
    const result = await send((_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' })
      response.end()
    })
    expect(result).toMatchObject({ outcome: 'answer', status: 302 })
  })

  it('cuts off a body that is too large after decompression', async () => {
    const result = await send((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(gzipSync('0'.repeat(100_000)))
    })
    expect(result.outcome).toBe('too_large')
  })

  // A source that is broken, or somebody who speaks for it, must not take the processor until the deadline of each poll.
  it.each([
    ['1xx responses', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['chunk extensions', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', `1;${'x'.repeat(1_000)}\r\n0\r\n`],
    ['empty lines', '', '\r\n'.repeat(100)],
  ])('cuts off %s that go on without an end', async (_, head, part) => {
    const flood: RequestListener = ({ socket }) => {
      const write = (): void => {
        if (!socket.destroyed && socket.write(part.repeat(100))) setImmediate(write)
      }
      socket.on('drain', write)
      socket.write(head)
      write()
    }
    expect((await send(flood, { timeoutMs: 5_000, maxBytes: 4_000_000 })).outcome).toBe('too_large')
  })

  it('reads a long body in small chunks, and many of them on one connection', async () => {
    const chunks: RequestListener = (_, response) => {
      for (let count = 0; count < 40_000; count += 1) response.write('0123456789')
      response.end()
    }
    const result = await send(chunks, { maxBytes: 500_000, times: 3 })
    expect(result.outcome === 'answer' && result.body.length).toBe(400_000)
  })

  it('ends headers and bodies that never come at the total deadline', async () => {
    expect((await send(() => undefined, { timeoutMs: 50 })).outcome).toBe('timeout')
    const slow: RequestListener = (_, response) => {
      response.writeHead(200)
      response.write('{')
    }
    expect((await send(slow, { timeoutMs: 50 })).outcome).toBe('timeout')
  })

  it('takes a connection that breaks for a network failure', async () => {
    expect((await send((request) => request.socket.destroy())).outcome).toBe('network')
  })
})
