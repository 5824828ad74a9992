import { expect, test } from 'vitest'
import { failureOf } from './failure.ts'

test('an answer of the server is read whole', () => {
  const error = Object.assign(new Error('The input is invalid.'), {
    data: { code: 'BAD_REQUEST', requestId: 'req_1', details: [{ path: 'amount', message: 'Too small.' }] },
  })
  expect(failureOf(error)).toEqual({
    code: 'BAD_REQUEST',
    message: 'The input is invalid.',
    requestId: 'req_1',
    fields: { amount: 'Too small.' },
    needsStepUp: false,
    needsAuthenticator: false,
    transient: false,
  })
})

test('no answer is a fault of the network that passes', () => {
  expect(failureOf(new TypeError('Failed to fetch'))).toMatchObject({
    code: 'OFFLINE',
    transient: true,
    requestId: null,
  })
  expect(failureOf(undefined).message).toBe('The server did not respond.')
})

test('an action that waits for a code says so', () => {
  const error = { message: 'Confirm', data: { code: 'FORBIDDEN', details: [{ path: 'stepUp', message: 'needed' }] } }
  expect(failureOf(error).needsStepUp).toBe(true)
})
