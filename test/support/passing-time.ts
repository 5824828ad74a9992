import { afterEach, vi } from 'vitest'

/** Lets the monotonic clock run ahead by so many further milliseconds, until the test ends. */
export function usePassingTime(): (ms: number) => void {
  const now = performance.now.bind(performance)
  let aheadMs = 0
  afterEach(() => {
    aheadMs = 0
    vi.restoreAllMocks()
  })
  return (ms) => {
    aheadMs += ms
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
  }
}
