import { setTimeout as delay } from 'node:timers/promises'

const LIMIT_MS = 60_000
/** A key may make two requests a second, and the shop that is waited for makes them with the same key. */
const PAUSE_MS = 1_000

/** Waits for a value that is neither false nor null; rejects after `limitMs`, a minute by default. Failures of the question count as not yet. */
export async function until<T>(
  what: string,
  question: () => Promise<T | false | null>,
  limitMs = LIMIT_MS,
): Promise<T> {
  let last: unknown
  for (const end = Date.now() + limitMs; Date.now() < end; await delay(PAUSE_MS)) {
    try {
      const value = await question()
      if (value !== false && value !== null) return value
      last = value
    } catch (error) {
      last = error
    }
  }
  throw new Error(`waited ${limitMs / 1_000} s until ${what}`, { cause: last })
}
