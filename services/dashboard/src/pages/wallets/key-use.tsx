import { NETWORKS } from '#shared/domain/networks.ts'
import type { api } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'

type Standing = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]['key']

/** The start index of a key, or that its earlier use is being searched. Nothing where neither applies. */
export function KeyUse({ standing }: { readonly standing: Standing }) {
  if (standing === null) return null
  const { waitingFor, startIndex, lastUsedIndex, givenIndex } = standing
  if (waitingFor.length > 0) {
    return (
      <Note tone="pending">
        <p>
          Paymesh is searching for earlier use of this key on{' '}
          {waitingFor.map((network) => NETWORKS[network].name).join(', ')}. Customers get no address of this wallet
          until the search ends. To skip it, add the same key again with a start index.
        </p>
      </Note>
    )
  }
  if (lastUsedIndex === null && startIndex === 0) return null
  return (
    <p className="pm-muted">
      New invoices start at index {startIndex}
      {lastUsedIndex === null
        ? givenIndex === null
          ? '.'
          : ', as entered.'
        : `: index ${lastUsedIndex} was used before the key was added.`}
    </p>
  )
}
