import type { Family } from '#shared/domain/enumerations.ts'
import type { api } from '../../api/trpc.ts'

export type Kind = 'xpub' | 'pool' | 'address'
export type Preview = Awaited<ReturnType<typeof api.wallets.prepare.mutate>>
export type Added = Awaited<ReturnType<typeof api.wallets.add.mutate>>

/** What a person entered. */
export interface Entered {
  readonly family: Family
  readonly kind: Kind
  readonly value: string
}
