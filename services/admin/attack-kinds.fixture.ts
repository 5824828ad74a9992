import type { AnyTRPCMutationProcedure, AnyTRPCProcedure } from '@trpc/server'
import type { AppRouter } from './app-router.ts'
import type { AttackWorld } from './attack-world.fixture.ts'

type PathsOf<R, Before extends string = ''> = {
  [K in keyof R & string]: R[K] extends AnyTRPCMutationProcedure
    ? `${Before}${K}`
    : R[K] extends AnyTRPCProcedure
      ? never
      : PathsOf<R[K], `${Before}${K}.`>
}[keyof R & string]

/** Path of every procedure that changes something: a new one does not compile until it has its row in the table below. */
export type MutationPath = PathsOf<AppRouter['_def']['record']>

/** A change under an `opId`: its audit rows and mails. */
export interface OnceAttack {
  readonly audit: 'once'
  /** Audit rows of the first request; a repetition adds none. */
  readonly rows: number
  /** Mails of the first request; a repetition adds none. */
  readonly mails: number
  /**
   * Prepares the state. `input` is the request, `other` the same request with other content. `undo` restores the state before
   * the request by another operation: a repetition must not run the request again.
   */
  stage(world: AttackWorld): Promise<{ readonly input: object; readonly other: object; undo?(): Promise<unknown> }>
}

/** How a changing procedure is audited. */
export type AuditBehaviour =
  | OnceAttack
  /** A step of a person's own login: every request is a separate one; `auth-rows.int.test.ts` counts its rows. */
  | { readonly audit: 'each' }
  /** Stores nothing: a mutation only because its input must not appear in a URL. */
  | { readonly audit: 'stores_nothing' }

/** A change under an `opId` with this many rows and mails. */
export const once = (rows: number, mails: number, stage: OnceAttack['stage']): OnceAttack => ({
  audit: 'once',
  rows,
  mails,
  stage,
})
