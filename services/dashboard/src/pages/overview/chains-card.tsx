import { IconAlertTriangle } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { useScope } from '#services/dashboard/src/session/scope.ts'
import { useSession } from '#services/dashboard/src/session/session.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { CardQuery, Chains } from './answers.ts'
import { CardState } from './card-state.tsx'

/** A lag of this many blocks fills the bar. */
const FULL_BLOCKS = 20

/** The lag of each network's scanner. */
export function ChainsCard({ query }: { readonly query: CardQuery<Chains> }) {
  const { isOperator } = useSession()
  const { mode } = useScope()
  const { data } = query
  if (data === undefined) return <CardState title="Network sync" what="network status" query={query} height={180} />
  return (
    <Card title="Network sync" beside={isOperator ? <Link to="/system/chains">System</Link> : null}>
      {data.length === 0 ? (
        <EmptyState title={`No network is connected in ${mode} mode.`} />
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
                {labelsOf(chain)}
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

function labelsOf({ status, lagBlocks }: Chains[number]): string {
  if (status === 'halted') return 'halted'
  if (status === 'never_scanned' || lagBlocks === null) return 'not scanned yet'
  return `${status === 'stuck' ? 'stuck, ' : ''}${lagBlocks} ${lagBlocks === 1 ? 'block' : 'blocks'}`
}
