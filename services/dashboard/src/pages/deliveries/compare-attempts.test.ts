import { expect, test } from 'vitest'
import { compareAttempts } from './compare-attempts.ts'

const phases = { dnsMs: null, connectMs: 2, tlsMs: null, firstByteMs: 9 }
const refused = {
  ...{ number: 1, durationMs: 40, statusCode: 503, error: 'status_503', ip: '10.0.0.1', phases },
  responseBody: '{"error":"busy","at":1}',
}

test('two attempts differ in the answer, its body and its time; what is equal is named', () => {
  const accepted = { ...refused, number: 2, statusCode: 200, error: null, durationMs: 12, responseBody: '{"at":1}' }
  const { different, same } = compareAttempts(refused, accepted)
  expect(different).toEqual([
    { name: 'Response', before: '503', after: '200' },
    { name: 'Duration', before: '40 ms', after: '12 ms' },
    { name: 'Response error', before: '"busy"', after: null },
  ])
  expect(same).toEqual(['Address', 'Connecting', 'Waiting for the answer'])
})

test('an attempt without an answer differs in what it does not have', () => {
  const unanswered = { ...refused, statusCode: null, error: 'connect', ip: null, phases: null, responseBody: '' }
  const names = compareAttempts(refused, unanswered).different.map(({ name }) => name)
  expect(names).toEqual(['Response', 'Address', 'Connecting', 'Waiting for the answer', 'Response body'])
})

test('equal attempts have no differences', () => {
  expect(compareAttempts(refused, refused).different).toEqual([])
})
