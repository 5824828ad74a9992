import type { Failure } from '../../api/failure.ts'

/** The server may have done what it could not answer. */
const UNKNOWN: ReadonlySet<string> = new Set(['INTERNAL_SERVER_ERROR', 'TOO_MANY_REQUESTS'])

/** One thing that a person wants done, under one id over all its tries. */
interface Intents {
  /** The id of this intent: that of the last one while it is open and the same. */
  idFor(key: string): string
  /** A try ended; null when it succeeded. */
  end(failure: Pick<Failure, 'code' | 'transient'> | null): void
}

/**
 * The intent of a form. A refusal ends it, unless an earlier try had no answer: that one may have been done, and only its id shows it to the
 * server, whatever refused the tries after it (a session that ended, a code of the authenticator that is missing).
 */
export function createIntents(newId: () => string): Intents {
  let open: { readonly key: string; readonly id: string; isUnknown: boolean } | null = null
  return {
    idFor(key) {
      if (open?.key !== key) open = { key, id: newId(), isUnknown: false }
      return open.id
    },
    end(failure) {
      if (failure === null) open = null
      else if (open !== null && (failure.transient || UNKNOWN.has(failure.code))) open.isUnknown = true
      else if (open?.isUnknown !== true) open = null
    },
  }
}
