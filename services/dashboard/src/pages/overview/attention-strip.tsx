import { IconAlertTriangle, IconChevronRight, IconInbox } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { queuedText } from '../../format/amounts.ts'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Since } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useScope, useTo } from '../../session/scope.ts'
import type { Chains, Webhooks } from './answers.ts'

/** Urgent items, at the top; empty if there are none. */
export function AttentionStrip(props: {
  readonly webhooks: Webhooks | undefined
  readonly chains: Chains | undefined
}) {
  const scope = useScope()
  const to = useTo()
  const { data } = useQuery(trpc.overview.attention.queryOptions(scope))
  const exceptions = data?.exceptions
  const failing = (props.webhooks?.endpoints ?? []).filter(({ state }) => state === 'failing')
  const halted = (props.chains ?? []).filter(({ status }) => status === 'halted' || status === 'stuck')
  if ((exceptions?.count ?? 0) + failing.length + halted.length === 0) return null
  return (
    <ul className="pm-attention" aria-label="Needs attention">
      {exceptions === undefined || exceptions.count === 0 ? null : (
        <Item
          to={to('exceptions')}
          badge={
            <ToneBadge tone="partial" icon={IconInbox}>
              {exceptions.count}
              {exceptions.more ? '+' : ''} {exceptions.count === 1 ? 'exception' : 'exceptions'}
            </ToneBadge>
          }
        >
          need{exceptions.count === 1 ? 's' : ''} a decision{' '}
          {exceptions.oldestAt === null ? null : (
            <>
              · oldest <Since at={exceptions.oldestAt} stepMs={60_000} />
            </>
          )}
        </Item>
      )}
      {failing.map(({ id, host, waiting, retrying }) => (
        <Item
          key={id}
          to={to('webhooks/endpoints', id)}
          badge={
            <ToneBadge tone="danger" icon={IconAlertTriangle}>
              Endpoint failing
            </ToneBadge>
          }
        >
          <UntrustedText>{host}</UntrustedText>
          {' · '}
          {queuedText(waiting, retrying)}
        </Item>
      ))}
      {halted.map(({ network, status, headAgeMs }) => (
        <Item
          key={network}
          to="/system/chains"
          badge={
            <ToneBadge tone="danger" icon={IconAlertTriangle}>
              {NETWORKS[network].name} {status}
            </ToneBadge>
          }
        >
          {headAgeMs === null ? 'payments are delayed' : 'payments on this network are not detected'}
        </Item>
      ))}
    </ul>
  )
}

function Item(props: { readonly to: string; readonly badge: ReactNode; readonly children: ReactNode }) {
  return (
    <li>
      <Link to={props.to} className="pm-card">
        {props.badge}
        <span>{props.children}</span>
        <IconChevronRight size={16} aria-hidden />
      </Link>
    </li>
  )
}
