import type { Family } from '#shared/domain/enumerations.ts'
import { FAMILY_LABELS } from './labels.ts'

interface NamedWallet {
  readonly id: string
  readonly family: Family
  readonly createdAt: number
}

/**
 * The screen reader name of each wallet of a page, by id: its family, and its position in the order of creation where the family has
 * several. No two wallets share a name, and a new one changes only the total in the others' names.
 */
export function walletNames(wallets: readonly NamedWallet[]): ReadonlyMap<string, string> {
  const inOrder = [...wallets].sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
  return new Map(
    wallets.map(({ id, family }) => {
      const same = inOrder.filter((other) => other.family === family)
      const place = same.findIndex((other) => other.id === id) + 1
      const words = FAMILY_LABELS[family]
      return [id, same.length === 1 ? words : `${words}, wallet ${place} of ${same.length}`]
    }),
  )
}
