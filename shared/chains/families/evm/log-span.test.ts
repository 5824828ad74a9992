import { describe, expect, it } from 'vitest'
import { createLogSpan } from './log-span.ts'

describe('the span of requests for logs', () => {
  it('halves without a hint, never below one block', () => {
    const span = createLogSpan(5)
    span.shrink(5, null)
    expect(span.blocks).toBe(2)
    span.shrink(2, null)
    span.shrink(1, null)
    expect(span.blocks).toBe(1)
  })

  it('follows a limit that the node names, unless that is what it just refused', () => {
    const span = createLogSpan(100)
    span.shrink(100, 10)
    expect(span.blocks).toBe(10)
    span.shrink(10, 10)
    expect(span.blocks).toBe(5)
  })

  it('grows again slowly, and beyond a named limit only after patience', () => {
    const span = createLogSpan(100)
    span.shrink(100, 10)
    for (let i = 0; i < 31; i += 1) span.grow(10)
    expect(span.blocks).toBe(10)
    span.grow(10)
    expect(span.blocks).toBe(11)
    for (let i = 0; i < 10_000; i += 1) span.grow(span.blocks)
    expect(span.blocks).toBe(100)
  })

  it('asks a node that states the same limit again and again less and less often for more', () => {
    const span = createLogSpan(5_000)
    let refused = 0
    for (let i = 0; i < 10_000; i += 1) {
      if (span.blocks > 10) {
        span.shrink(span.blocks, 10)
        refused += 1
      } else {
        span.grow(span.blocks)
      }
    }
    // After 32, 64, 128 … 2,048 requests, and every 2,048 from then on.
    expect(refused).toBe(10)
    // A node that allows more from now on is found out, and one that states another limit is tried after 32 requests again.
    for (let i = 0; i < 2_048 && span.blocks === 10; i += 1) span.grow(10)
    expect(span.blocks).toBe(11)
    span.shrink(11, 5)
    for (let i = 0; i < 32; i += 1) span.grow(5)
    expect(span.blocks).toBe(6)
  })

  it('grows also while nothing is requested because it is too small, and never beyond a named limit', () => {
    const span = createLogSpan(100)
    span.shrink(2, null)
    for (let i = 0; i < 150; i += 1) span.givenUp()
    expect(span.blocks).toBe(100)
    span.shrink(100, 10)
    for (let i = 0; i < 10_000; i += 1) span.givenUp()
    expect(span.blocks).toBe(10)
  })

  it('learns nothing from a request that asked for less', () => {
    const span = createLogSpan(100)
    span.shrink(100, null)
    span.grow(3)
    expect(span.blocks).toBe(50)
  })
})
