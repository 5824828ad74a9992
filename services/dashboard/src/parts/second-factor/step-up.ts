import { failureOf } from '../../api/failure.ts'
import { api } from '../../api/trpc.ts'
import { serverTime } from '../../first/server-time.ts'
import { createSharedValue } from '../shared-value.ts'

/** What the person must do: enter a code, or set up an authenticator first. */
type RequiredProof = 'code' | 'authenticator'

/** The dialog that is open; null without one. */
export const requiredProof = createSharedValue<RequiredProof | null>(null)
let done: ((given: boolean) => void) | null = null

/** Closes the dialog: with `given` the call is repeated. */
export function settle(given: boolean): void {
  done?.(given)
  done = null
  requiredProof.set(null)
}

/** Opens the dialog. True when a code was entered, false when the person closed it. */
async function requestProof(proof: RequiredProof): Promise<boolean> {
  settle(false)
  return await new Promise((resolve) => {
    done = resolve
    requiredProof.set(proof)
  })
}

/**
 * Makes the call. If the server requires a code first, or an authenticator, asks for it and repeats the call; a
 * new authenticator counts as a code. A closed dialog rethrows.
 */
export async function withStepUp<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const { needsStepUp, needsAuthenticator } = failureOf(error)
    const proof = needsStepUp ? 'code' : needsAuthenticator ? 'authenticator' : null
    if (proof !== null && (await requestProof(proof))) return await call()
    throw error
  }
}

/** A code that ends sooner is asked for again: filling in a form takes a while. */
const SOON_MS = 60_000

/**
 * Asks for what a dangerous form will need before the form is filled in: a code, or an authenticator. True when the form may open. The
 * server checks the call itself all the same; where it cannot be asked, it is left to that.
 */
export async function stepUpFirst(): Promise<boolean> {
  const known = await api.auth.me.query().catch(() => null)
  if (known === null) return true
  if (!known.hasAuthenticator) return await requestProof('authenticator')
  return (known.steppedUpUntil ?? 0) > serverTime() + SOON_MS || (await requestProof('code'))
}
