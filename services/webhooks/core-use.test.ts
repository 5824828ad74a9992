import { expect, test } from 'vitest'
import { createCoreUse } from './assemble.ts'

test('a core is full above four fifths of the processor time of a second, and not while others have the core', () => {
  const used = { at: 0, cpu: 0 }
  const isFull = createCoreUse(
    () => used.at,
    () => used.cpu,
  )
  const after = (at: number, cpu: number) => {
    used.at += at
    used.cpu += cpu
    return isFull()
  }
  expect(after(1_000, 800)).toBe(false)
  expect(after(1_000, 801)).toBe(true)
  // Too short a time to measure.
  expect(after(999, 0)).toBe(true)
  expect(after(1, 0)).toBe(false)
})
