import type { HttpFault } from '#shared/ports/webhook-http.ts'

/** What a receiver does with one request: `arrives` tells whether it reads the request at all. */
export type Reaction =
  | { readonly kind: 'answer'; readonly status: number; readonly afterMs: number; readonly arrives: true }
  | { readonly kind: 'fault'; readonly error: HttpFault; readonly afterMs: number; readonly arrives: boolean }

/** One merchant's server behind one URL. */
export interface Receiver {
  readonly url: string
  /** Never gets well again. */
  readonly dead: boolean
  react(): Reaction
}
