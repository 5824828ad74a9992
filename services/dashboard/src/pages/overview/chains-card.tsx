import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useSession } from '../../session/session.ts'
import type { CardQuery, Chains } from './answers.ts'
import { CardState } from './card-state.tsx'

/** So many blocks behind fill the bar. */
const FULL_BLOCKS = 20

/** How far the scanner of each network is behind. */
export function ChainsCard({ query }: { readonly query: CardQuery<Chains> }) {
  const { isOperator } = useSession()
  const { data } = query
  if (data === undefined) return <CardState title="Chain lag" what="chain lag" query={query} height={180} />
  return (
    <Card title="Chain lag" beside={isOperator ? <Link to="/system/chains">System</Link> : null}>
      {data.length === 0 ? (
        <EmptyState title="No network has a node in this mode." />
      ) : (
        <dl className="pm-chains pm-num">
          {data.map((chain) => (
            <div key={chain.network} className={`pm-chain-${chain.status}`}>
              <dt>{NETWORKS[chain.network].name}</dt>
              <dd className="pm-track" aria-hidden>
                <i style={{ width: `${barOf(chain)}%` }} />
              </dd>
              <dd>
                {chain.status === 'live' || chain.status === 'never_scanned' ? null : (
                  <IconAlertTriangle size={14} aria-hidden />
                )}{' '}
                {wordsOf(chain)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}

function barOf({ status, lagBlocks }: Chains[number]): number {
  if (status === 'halted' || status === 'stuck') return 100
  return Math.min(100, ((lagBlocks ?? 0) / FULL_BLOCKS) * 100)
}

function wordsOf({ status, lagBlocks }: Chains[number]): string {
  if (status === 'halted') return 'halted'
  if (status === 'never_scanned' || lagBlocks === null) return 'not scanned yet'
  return `${status === 'stuck' ? 'stuck, ' : ''}${lagBlocks} ${lagBlocks === 1 ? 'block' : 'blocks'}`
}
