import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readBody } from './read-body.ts'

const HEADERS = { 'content-type': 'application/json', 'content-length': '100' }

function openRequest(): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = HEADERS
  request.push('{"amount":')
  return request
}

// Guarantee: nobody can raise the alarm for server faults, or keep a request open for ever, by hanging up.
describe('a client that goes away', () => {
  const ABORTED = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

  it('in the middle of its body is no fault of the server', async () => {
    const request = openRequest()
    const body = readBody(request)
    request.destroy(ABORTED)
    await expect(body).rejects.toMatchObject({ code: 'VALIDATION_ERROR', status: 400, cause: ABORTED })
  })

  it('before its body is read does not keep the request waiting', async () => {
    const request = openRequest()
    request.destroy()
    await expect(readBody(request)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
  })
})
