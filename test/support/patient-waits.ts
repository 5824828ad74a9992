import { vi } from 'vitest'

/** What is waited for may take this long on a machine that does other things as well; a test that waits in vain still fails. */
const PATIENCE_MS = 20_000

type Options = number | { readonly timeout?: number; readonly interval?: number } | undefined

/** A wait's own time where it is longer, else the patience: a shorter one checks the machine and not the product. */
function patient(options: Options): { timeout: number; interval?: number } {
  const given = typeof options === 'number' ? { timeout: options } : options
  return { ...given, timeout: Math.max(PATIENCE_MS, given?.timeout ?? 0) }
}

/** This file is read again before each file of a worker, whose `vi` stays the same. */
const DONE = Symbol.for('paymesh.patient-waits')

if (!(DONE in vi)) {
  const { waitFor, waitUntil } = vi
  vi.waitFor = (callback, options) => waitFor(callback, patient(options))
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))
  Object.assign(vi, { [DONE]: true })
}
