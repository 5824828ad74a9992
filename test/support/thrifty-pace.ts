import { type ThriftyPace, usualPace } from '#shared/usecases/scanning/thrifty-pace.ts'

/** Asks as often as a test can follow, and looks around only when told so. */
export const briskPace = (change: Partial<ThriftyPace> = {}): ThriftyPace => ({
  ...usualPace(100, async () => false),
  restMs: 10,
  openMs: 10,
  watchedMs: 1,
  slowMs: 10,
  confirmMs: 10,
  troubleMs: 10,
  // Times of blocks are whole seconds.
  marginMs: 2_000,
  ...change,
})
