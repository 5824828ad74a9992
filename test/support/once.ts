import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_EVERY_MS = 100

/**
 * What `make` gives, as JSON in a file: made by the first of several workers that ask, read by the others. After a failure the next one
 * that asks makes it.
 */
export async function once<T>(file: string, make: () => Promise<T>): Promise<T> {
  const paymentMethod = `${file}.paymentMethod`
  while (!existsSync(file)) {
    if (!taken(paymentMethod)) {
      await delay(POLL_EVERY_MS)
      continue
    }
    try {
      // Renamed when it is complete: the others read as soon as it is there.
      writeFileSync(`${file}.new`, JSON.stringify(await make()))
      renameSync(`${file}.new`, file)
    } finally {
      rmdirSync(paymentMethod)
    }
  }
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

/** Whether the lock is ours now: a folder can be made only once. */
function taken(paymentMethod: string): boolean {
  try {
    mkdirSync(paymentMethod)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
