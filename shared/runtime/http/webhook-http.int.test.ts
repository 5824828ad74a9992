import { createSecureServer } from 'node:http2'
import { createServer as createTlsServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { HttpPost } from '#shared/ports/webhook-http.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '#test/support/test-certificate.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createWebhookHttp, type WebhookHttp, type WebhookHttpOptions } from './webhook-http.ts'

let receiver: WebhookReceiver
let open: WebhookHttp[] = []

beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(async () => {
  await Promise.all(open.map((http) => http.close()))
  open = []
  await receiver.close()
})

function client(options: WebhookHttpOptions = {}): WebhookHttp {
  const http = createWebhookHttp(options)
  open.push(http)
  return http
}

function postTo(url: string, overrides: Partial<HttpPost> = {}): HttpPost {
  return {
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'test' },
    body: Buffer.from('{"a":1}'),
    timeoutMs: 30_000,
    maxResponseBytes: 16_384,
    allowLocalhost: true,
    ...overrides,
  }
}

describe('a receiver on localhost', () => {
  test('gets the exact bytes, and the answer comes back with address and phases', async () => {
    receiver.answer({ kind: 'status', status: 201, body: 'thanks' })
    const body = Buffer.from('xx{"ä":1}xx', 'utf8').subarray(2, -2)
    const result = await client().post(postTo(receiver.url, { body }))
    expect(result).toMatchObject({ outcome: 'answered', status: 201, body: 'thanks', ip: '127.0.0.1' })
    expect(result.phases.connectMs).toBeGreaterThanOrEqual(0)
    expect(result.phases.firstByteMs).toBeGreaterThanOrEqual(0)
    expect(result.phases.tlsMs).toBeNull()
    expect(receiver.requests[0]?.body.toString()).toBe('{"ä":1}')
    expect(receiver.requests[0]).toMatchObject({ method: 'POST', path: '/hook' })
  })

  test('is called again on the connections that are open', async () => {
    const http = client()
    let last = await http.post(postTo(receiver.url))
    for (let call = 0; call < 9; call += 1) last = await http.post(postTo(receiver.url))
    expect(receiver.connections()).toBeLessThanOrEqual(2)
    expect(last).toMatchObject({ ip: '127.0.0.1', phases: { dnsMs: null, connectMs: null } })
  })

  test('that never answers is given up at the deadline', async () => {
    receiver.answer({ kind: 'hang' })
    const result = await client().post(postTo(receiver.url, { timeoutMs: 2_000 }))
    expect(result).toMatchObject({ outcome: 'failed', error: 'timeout', ip: '127.0.0.1' })
    expect(result.durationMs).toBeGreaterThanOrEqual(1_995)
  })

  test('that drips its answer is given up at the same deadline, although its head said 200', async () => {
    receiver.answer({ kind: 'drip', everyMs: 20 })
    const result = await client().post(postTo(receiver.url, { timeoutMs: 300 }))
    expect(result).toMatchObject({ outcome: 'failed', error: 'timeout' })
  })

  test('that redirects gets no second request', async () => {
    receiver.answer({ kind: 'status', status: 302, headers: { location: receiver.url } })
    const result = await client().post(postTo(receiver.url))
    expect(result).toMatchObject({ outcome: 'answered', status: 302 })
    expect(receiver.requests).toHaveLength(1)
  })

  test('that resets the connection is a reset', async () => {
    receiver.answer({ kind: 'reset' })
    expect(await client().post(postTo(receiver.url))).toMatchObject({ outcome: 'failed', error: 'reset' })
  })

  test('that floods is cut after 16 KB and its connection is dropped', async () => {
    receiver.answer({ kind: 'flood' })
    const result = await client().post(postTo(receiver.url))
    expect(result).toMatchObject({ outcome: 'answered', status: 200 })
    expect(result.outcome === 'answered' && result.body).toBe('x'.repeat(16_384))
    expect(receiver.bytesSent()).toBeLessThan(32 * 1_048_576)
    const http = client()
    receiver.answer({ kind: 'status', status: 200, body: Buffer.alloc(20_000, 'y') })
    await http.post(postTo(receiver.url))
    await http.post(postTo(receiver.url))
    expect(new Set(receiver.requests.slice(1).map((request) => request.connection)).size).toBe(2)
  })

  test('with a head that is too long or no HTTP at all is a failure, not a crash', async () => {
    receiver.answer({ kind: 'status', status: 200, headers: { 'x-long': 'a'.repeat(17_000) } })
    expect(await client().post(postTo(receiver.url))).toMatchObject({ outcome: 'failed', error: 'too_large' })
  })

  test('is refused when the caller does not allow it, and nothing is sent', async () => {
    const result = await client().post(postTo(receiver.url, { allowLocalhost: false }))
    expect(result).toMatchObject({ outcome: 'failed', error: 'bad_url' })
    expect(receiver.connections()).toBe(0)
  })

  test('that is gone is refused', async () => {
    await receiver.close()
    expect(await client().post(postTo(receiver.url))).toMatchObject({ outcome: 'failed', error: 'refused' })
    receiver = await startWebhookReceiver()
  })

  test('proxies of the environment are not used', async () => {
    vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9')
    vi.stubEnv('http_proxy', 'http://127.0.0.1:9')
    expect(await client().post(postTo(receiver.url))).toMatchObject({ outcome: 'answered', status: 200 })
    vi.unstubAllEnvs()
  })

  test('closing ends what is in flight', async () => {
    receiver.answer({ kind: 'hang' })
    const http = client()
    const pending = http.post(postTo(receiver.url))
    await receiver.waitForCount(1)
    await http.close()
    expect(await pending).toMatchObject({ outcome: 'failed', error: 'stopped' })
  })
})

describe('the guard at connect', () => {
  // Guarantee: whatever a name resolves to at the moment of connecting, no byte goes to an address that is not public.
  test('a name that was public when checked and points inside when called is blocked', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']]
    const resolve = vi.fn(async () => answers.shift() ?? ['127.0.0.1'])
    expect(await resolve()).toEqual(['93.184.215.14'])
    const result = await client({ resolve }).post(postTo(`https://rebind.example.com:${receiver.port}/`))
    expect(result).toMatchObject({ outcome: 'failed', error: 'blocked_address', ip: null })
    expect(receiver.connections()).toBe(0)
  })

  test.each([
    [['93.184.215.14', '10.0.0.1']],
    [['10.0.0.1', '93.184.215.14']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['not an address']],
  ])('a name that resolves to %j is blocked', async (addresses) => {
    const result = await client({ resolve: async () => addresses }).post(postTo('https://mixed.example.com/'))
    expect(result).toMatchObject({ outcome: 'failed', error: 'blocked_address' })
  })

  test('an address written into the URL needs no look-up to be blocked', async () => {
    const resolve = vi.fn(async () => ['93.184.215.14'])
    const result = await client({ resolve }).post(postTo(`https://127.0.0.1:${receiver.port}/`))
    expect(result).toMatchObject({ outcome: 'failed', error: 'blocked_address' })
    expect(resolve).not.toHaveBeenCalled()
    expect(receiver.connections()).toBe(0)
  })

  test('a name without addresses is a dns failure', async () => {
    const none = await client({ resolve: async () => [] }).post(postTo('https://none.example.com/'))
    expect(none).toMatchObject({ outcome: 'failed', error: 'dns' })
    const resolve = () => Promise.reject(new Error('SERVFAIL'))
    expect(await client({ resolve }).post(postTo('https://none.example.com/'))).toMatchObject({ error: 'dns' })
  })

  test('a look-up that hangs falls under the total deadline', async () => {
    const resolve = () => new Promise<never>(() => undefined)
    const result = await client({ resolve }).post(postTo('https://slow.example.com/', { timeoutMs: 150 }))
    expect(result).toMatchObject({ outcome: 'failed', error: 'timeout' })
  })
})

describe('TLS', () => {
  let server: Server
  let port: number
  let requests = 0
  const names: (string | false)[] = []

  beforeEach(async () => {
    names.length = 0
    requests = 0
    server = createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, (_request, response) => {
      requests += 1
      response.end('secure')
    })
    server.on('secureConnection', (socket) =>
      names.push('servername' in socket ? (socket.servername as string) : false),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const loopback = { resolve: async () => ['127.0.0.1'], isAllowed: (address: string) => address === '127.0.0.1' }

  test('the pinned connection keeps the name for SNI and for the certificate check', async () => {
    const result = await client({ ...loopback, ca: TEST_CERTIFICATE }).post(
      postTo(`https://hooks.example.com:${port}/`),
    )
    expect(result).toMatchObject({ outcome: 'answered', status: 200, body: 'secure', ip: '127.0.0.1' })
    expect(result.phases.tlsMs).toBeGreaterThan(0)
    expect(names).toEqual(['hooks.example.com'])
  })

  // Guarantee: the bounds of an answer are those of HTTP/1.1, so a receiver never chooses another version.
  test('HTTP/2 is not offered', async () => {
    const versions: string[] = []
    const options = { cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY, allowHTTP1: true }
    const both = createSecureServer(options, ({ httpVersion }, response) => {
      versions.push(httpVersion)
      response.end()
    })
    await new Promise<void>((resolve) => both.listen(0, '127.0.0.1', resolve))
    const url = `https://hooks.example.com:${(both.address() as AddressInfo).port}/`
    expect(await client({ ...loopback, ca: TEST_CERTIFICATE }).post(postTo(url))).toMatchObject({ status: 200 })
    expect(versions).toEqual(['1.1'])
    await Promise.all(open.splice(0).map((http) => http.close()))
    await new Promise((resolve) => both.close(resolve))
  })

  test('a certificate for another name, or of nobody we trust, is a tls failure', async () => {
    const wrongName = await client({ ...loopback, ca: TEST_CERTIFICATE }).post(
      postTo(`https://other.example.com:${port}/`),
    )
    expect(wrongName).toMatchObject({ outcome: 'failed', error: 'tls' })
    expect(await client(loopback).post(postTo(`https://hooks.example.com:${port}/`))).toMatchObject({ error: 'tls' })
  })

  test('a server that speaks no TLS is a tls failure', async () => {
    const result = await client(loopback).post(postTo(`https://hooks.example.com:${receiver.port}/`))
    expect(result).toMatchObject({ outcome: 'failed', error: 'tls' })
  })

  test('the peer of the open socket is looked at before anything is sent', async () => {
    let requestCount = 0
    // Says yes to the resolved address and no to the socket's peer, as if the network had led us elsewhere.
    const isAllowed = (): boolean => {
      requestCount += 1
      return requestCount === 1
    }
    const guarded = client({ resolve: loopback.resolve, isAllowed, ca: TEST_CERTIFICATE })
    const result = await guarded.post(postTo(`https://hooks.example.com:${port}/`))
    expect(result).toMatchObject({ outcome: 'failed', error: 'blocked_address' })
    expect(requests).toBe(0)
  })
})
