import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readBody } from './send.ts'

const HEADERS = { 'content-type': 'application/json', 'content-length': '100' }

function openRequest(): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = HEADERS
  request.push('{"amount":')
  return request
}

function finishedRequest(headers: Record<string, string>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = { 'content-length': '2', ...headers }
  request.push('{}')
  request.push(null)
  return request
}

describe('the media type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; odata=verbose; charset=utf-8',
    'application/json\t; profile="x"',
  ])('%s is read', async (type) => {
    await expect(readBody(finishedRequest({ 'content-type': type }))).resolves.toEqual(Buffer.from('{}'))
  })

  it.each([
    '',
    'text/json',
    'application/jsonx',
    'application/json-patch+json',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; charset=',
  ])('%s is refused', async (type) => {
    await expect(readBody(finishedRequest({ 'content-type': type }))).rejects.toMatchObject({ status: 415 })
  })
})

describe('a body in chunks without a media type', () => {
  function chunked(text: string): IncomingMessage {
    const request = new IncomingMessage(new Socket())
    request.headers = { 'transfer-encoding': 'chunked' }
    request.push(text)
    request.push(null)
    return request
  }

  it('is none at all when nothing comes', async () => {
    await expect(readBody(chunked(''))).resolves.toHaveLength(0)
  })

  it('is refused when something comes', async () => {
    await expect(readBody(chunked('{}'))).rejects.toMatchObject({ status: 415 })
  })
})

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
