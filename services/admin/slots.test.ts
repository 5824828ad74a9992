import { expect, it } from 'vitest'
import { createSlots } from './slots.ts'

const LIMITED = expect.objectContaining({ code: 'RATE_LIMITED' })

it('lets one owner hold so many slots and nobody else wait for them', () => {
  const slots = createSlots({ perOwner: 30 })
  const leave = Array.from({ length: 30 }, () => slots.enter('a'))
  expect(() => slots.enter('a')).toThrow(LIMITED)
  expect(() => slots.enter('b')).not.toThrow()
  leave[0]?.()
  // Giving a place back twice frees one place.
  leave[0]?.()
  expect(() => slots.enter('a')).not.toThrow()
  expect(() => slots.enter('a')).toThrow(LIMITED)
})

it('refuses what begins too often, says when to try again, and counts no refusal', () => {
  let now = 0
  const slots = createSlots({ perOwner: 1, begins: { max: 2, windowMs: 1_000 } }, () => now)
  slots.enter('a')()
  now = 400
  const leave = slots.enter('a')
  // Held already: this is no begin.
  expect(() => slots.enter('a')).toThrow(LIMITED)
  leave()
  now = 500
  expect(() => slots.enter('a')).toThrow(expect.objectContaining({ details: [{ path: 'retryAfter', message: '1' }] }))
  expect(() => slots.enter('b')()).not.toThrow()
  now = 1_000
  expect(() => slots.enter('a')()).not.toThrow()
  now = 1_399
  expect(() => slots.enter('a')).toThrow(LIMITED)
  now = 1_400
  expect(() => slots.enter('a')()).not.toThrow()
})

it('has a bound for all owners together', () => {
  const slots = createSlots({ perOwner: 2, total: 3 })
  for (const owner of ['a', 'a', 'b']) slots.enter(owner)
  expect(() => slots.enter('c')).toThrow(LIMITED)
})

// Guarantee: workspaces that fill their own shares keep no other workspace from its first stream.
it('keeps a quarter of the slots for owners who have none', () => {
  const slots = createSlots({ perOwner: 10, total: 40 })
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
