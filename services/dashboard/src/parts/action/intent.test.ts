import { expect, it } from 'vitest'
import { createIntents } from './intent.ts'

const OFFLINE = { code: 'OFFLINE', transient: true }
const refused = (code: string) => ({ code, transient: false })

function intents() {
  let made = 0
  return createIntents(() => `id-${++made}`)
}

it('has one id until it is done or refused, and another one for other content', () => {
  const one = intents()
  expect([one.idFor('a'), one.idFor('a')]).toEqual(['id-1', 'id-1'])
  one.end(null)
  expect(one.idFor('a')).toBe('id-2')
  one.end(refused('BAD_REQUEST'))
  expect([one.idFor('a'), one.idFor('b')]).toEqual(['id-3', 'id-4'])
})

// Guarantee: what the server did without an answer is never done once more under another id.
it.each(['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS', 'INTERNAL_SERVER_ERROR', 'CONFLICT'])(
  'keeps its id after a lost answer, although %s follows',
  (code) => {
    for (const lost of [OFFLINE, refused('INTERNAL_SERVER_ERROR')]) {
      const one = intents()
      const id = one.idFor('a')
      one.end(lost)
      expect(one.idFor('a')).toBe(id)
      one.end(refused(code))
      expect(one.idFor('a')).toBe(id)
      one.end(null)
      expect(one.idFor('a')).not.toBe(id)
    }
  },
)
