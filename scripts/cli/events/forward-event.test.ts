import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from '#test/support/test-certificate.ts'
import { forwardEvent, isTlsReason } from './forward-event.ts'

const EVENT = { id: 'evt_1', type: 'invoice.paid', body: '{}' }
const servers: Server[] = []
let secure: number
let plain: number

async function listening(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  const certificate = { key: TEST_CERTIFICATE_KEY, cert: TEST_CERTIFICATE }
  secure = await listening(createServer(certificate, (_request, response) => void response.writeHead(204).end()))
  plain = await listening(createPlainServer((_request, response) => void response.writeHead(204).end()))
})
afterAll(() => {
  for (const server of servers) server.close()
})

const forward = (url: string, skipVerify = false) =>
  forwardEvent(EVENT, { url, secret: 'whsec_x', deliveryId: 'whd_1', skipVerify })

// Guarantee: a receiver whose TLS is refused waits like one that is down: its certificate costs no event.
test.each([
  ['a certificate that it signed itself', () => `https://127.0.0.1:${secure}/`],
  ['no TLS', () => `https://127.0.0.1:${plain}/`],
])('a receiver with %s has got nothing', async (_, url) => {
  const outcome = await forward(url())
  expect(outcome).toMatchObject({ kind: 'unreachable' })
  expect(isTlsReason(outcome.kind === 'answered' ? '' : outcome.reason)).toBe(true)
})

test('takes any certificate when told to', async () => {
  expect(await forward(`https://127.0.0.1:${secure}/`, true)).toMatchObject({ kind: 'answered', status: 204 })
})

test('names a port without a receiver as no matter of TLS', async () => {
  const outcome = await forward(`http://127.0.0.1:${await freePort(0)}/`)
  expect(outcome).toMatchObject({ kind: 'unreachable', reason: 'ECONNREFUSED' })
  expect(isTlsReason('ECONNREFUSED')).toBe(false)
})
