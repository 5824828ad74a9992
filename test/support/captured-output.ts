import { afterEach, beforeEach, vi } from 'vitest'

/** What a command prints during each test of the file, from both streams in their order; nothing of it reaches the terminal. */
export function useCapturedOutput(): () => string {
  let printed = ''
  beforeEach(() => {
    printed = ''
    const keep = (text: unknown) => {
      printed += String(text)
      return true
    }
    vi.spyOn(process.stdout, 'write').mockImplementation(keep)
    vi.spyOn(process.stderr, 'write').mockImplementation(keep)
  })
  afterEach(() => vi.restoreAllMocks())
  return () => printed
}
