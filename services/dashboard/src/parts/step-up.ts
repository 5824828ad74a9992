import { failureOf } from '../api/failure.ts'

/** What the person is asked for: a code, or to set up an authenticator first. */
type Asked = 'code' | 'authenticator'

let waiting: { readonly asked: Asked; readonly done: (given: boolean) => void } | null = null
const listeners = new Set<() => void>()

/** Ends the question: `given` makes the call again. */
export function settle(given: boolean): void {
  waiting?.done(given)
  waiting = null
  for (const listener of listeners) listener()
}

/** Asks in place. True when it was given, false when the person closed the question. */
async function ask(asked: Asked): Promise<boolean> {
  settle(false)
  return await new Promise((done) => {
    waiting = { asked, done }
    for (const listener of listeners) listener()
  })
}

/**
 * Makes the call. When the server wants a code first, or an authenticator, asks for it in place and makes the same call again; a
 * new authenticator counts as a code. A closed question rethrows.
 */
export async function withStepUp<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const { needsStepUp, needsAuthenticator } = failureOf(error)
    const asked = needsStepUp ? 'code' : needsAuthenticator ? 'authenticator' : null
    if (asked !== null && (await ask(asked))) return await call()
    throw error
  }
}

/** Calls the listener whenever the question changes; returns what ends that. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What is asked for now; null without a question. */
export function askedNow(): Asked | null {
  return waiting?.asked ?? null
}
