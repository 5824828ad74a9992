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

// Guarantee: workspaces that fill their own shares keep no other workspace from its first stream.
it('keeps a quarter of the streams for owners who have none', () => {
  const slots = createStreamSlots({ perOwnerMax: 10, totalMax: 40 })
  const enter = (owner: string) => {
    try {
      slots.enter(owner)
      return true
    } catch {
      return false
    }
  }
  for (const owner of ['a', 'b', 'c', 'd']) for (let one = 0; one < 10; one += 1) enter(owner)
  expect(enter('a')).toBe(false)
  expect(enter('someone else')).toBe(true)
})
