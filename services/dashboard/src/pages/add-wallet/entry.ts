import type { Family } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { api } from '../../api/trpc.ts'
import type { Proof } from '../wallets/control-proof.tsx'

export type Kind = 'xpub' | 'pool' | 'address'
export type Preview = Awaited<ReturnType<typeof api.wallets.prepare.mutate>>
export type KeyPreview = NonNullable<Preview['key']>
export type AddedWallet = Awaited<ReturnType<typeof api.wallets.add.mutate>>

/** Data that a person entered. */
export interface Entry {
  readonly family: Family
  readonly kind: Kind
  readonly value: string
  /** Chosen if the key leaves it open. */
  readonly scriptType?: ScriptType
  /** Position of the key, requested when it is not at account level. */
  readonly path?: string
  /** First index to offer; absent = Paymesh searches for it. */
  readonly startIndex?: number
  /** The signed challenge, if the installation requires one. */
  readonly proof?: Proof
}
