import { expect, it } from 'vitest'
import { createStreamSlots } from './stream-slots.ts'

it('lets one person hold 30 live views and nobody else wait for it', () => {
  const slots = createStreamSlots()
  const leave = Array.from({ length: 30 }, () => slots.enter('a'))
  expect(() => slots.enter('a')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  expect(() => slots.enter('b')).not.toThrow()
  leave[0]?.()
  // Giving a place back twice frees one place.
  leave[0]?.()
  expect(() => slots.enter('a')).not.toThrow()
  expect(() => slots.enter('a')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
})
