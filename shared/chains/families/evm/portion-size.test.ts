import { expect, it } from 'vitest'
import { createPortionSize } from './portion-size.ts'

it('doubles over empty blocks, and takes only as many full ones as fit', () => {
  const portion = createPortionSize(1_000)
  const first = portion.blocks
  portion.learn(first, 0)
  portion.learn(first * 2, 0)
  expect(portion.blocks).toBe(first * 4)
  portion.learn(first * 4, first * 400)
  expect(portion.blocks).toBe(10)
  portion.learn(10, 1_000)
  expect(portion.blocks).toBe(10)
})

it('learns of full blocks from a single one, but not that blocks are empty', () => {
  const portion = createPortionSize(1_000)
  const first = portion.blocks
  portion.learn(1, 0)
  expect(portion.blocks).toBe(first)
  portion.learn(1, 500)
  expect(portion.blocks).toBe(2)
  portion.learn(1, 5_000)
  expect(portion.blocks).toBe(1)
})
