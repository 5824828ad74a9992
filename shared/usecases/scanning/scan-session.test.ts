import { expect, it } from 'vitest'
import type { ChainCursor } from '#shared/ports/cursors.ts'
import { doubting } from './scan-session.ts'

// Guarantee: a block that carries a time in the future lets no deadline pass before it is proven.
it.each([
  ['from the block on', { advancedAt: 90 }, 70, 70],
  ['from the reading of a block whose time was in the future', { advancedAt: 90 }, 140, 90],
  ['as they did', { advancedAt: 90, unproven: 60 }, 70, undefined],
  ['earlier than they did', { advancedAt: 90, unproven: 120 }, 140, 90],
])('deadlines wait %s', (_what, cursor, time, unproven) => {
  expect(doubting(cursor as Partial<ChainCursor> as ChainCursor, time).unproven).toBe(unproven)
})
