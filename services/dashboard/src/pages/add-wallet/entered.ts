import type { Family } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { api } from '../../api/trpc.ts'
import type { Proof } from '../wallets/control-proof.tsx'

export type Kind = 'xpub' | 'pool' | 'address'
export type Preview = Awaited<ReturnType<typeof api.wallets.prepare.mutate>>
export type KeyPreview = NonNullable<Preview['key']>
export type Added = Awaited<ReturnType<typeof api.wallets.add.mutate>>

/** What a person entered. */
export interface Entered {
  readonly family: Family
  readonly kind: Kind
  readonly value: string
  /** Chosen where the key leaves it open. */
  readonly scriptType?: ScriptType
  /** Where the key lies, asked for when it is not at account level. */
  readonly path?: string
  /** First index to offer; absent = Paymesh looks for it. */
  readonly startIndex?: number
  /** The answer to a challenge, where the installation asks for one. */
  readonly proof?: Proof
}
