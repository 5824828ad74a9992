import { NETWORKS } from '#shared/domain/networks.ts'
import type { api } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'

type Standing = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]['key']

/** Where invoices begin on a key, or that this is still looked up. Nothing where there is nothing to say. */
export function KeyUse({ standing }: { readonly standing: Standing }) {
  if (standing === null) return null
  const { waitingFor, startIndex, lastUsedIndex, givenIndex } = standing
  if (waitingFor.length > 0) {
    return (
      <Note tone="pending">
        <p>
          Paymesh looks for earlier use of this key on {waitingFor.map((network) => NETWORKS[network].name).join(', ')}.
          No address of it is given to payers until that has ended. If it does not end, add the same key again with a
          start index.
        </p>
      </Note>
    )
  }
  if (lastUsedIndex === null && startIndex === 0) return null
  return (
    <p className="pm-muted">
      Invoices begin at index {startIndex}
      {lastUsedIndex === null
        ? givenIndex === null
          ? '.'
          : ', as it was entered.'
        : `: index ${lastUsedIndex} was used before the key was added.`}
    </p>
  )
}
