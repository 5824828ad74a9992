import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { Note } from '../../parts/card.tsx'
import { useScope } from '../../session/scope.ts'
import { LANGUAGE } from '../../words/language.ts'
import { words } from './advice-words.ts'
import type { Preview } from './entered.ts'

/** Nodes were asked; the same figures serve for a while. */
const FRESH_MS = 60_000

/** What moving one payment costs on the wallet's networks; nothing while no fee is known. */
export function MovingAdvice({ preview }: { readonly preview: Pick<Preview, 'kind' | 'networks'> }) {
  const scope = useScope()
  const { kind, networks } = preview
  const advice = useQuery(trpc.funds.advice.queryOptions({ ...scope, kind, networks }, { staleTime: FRESH_MS }))
  if (advice.data === undefined) return null
  const { costs, currency, usual, recommendFewer } = advice.data
  const known = costs.filter(({ fee }) => fee !== null)
  if (known.length === 0) return null
  const money = usual === null ? null : `${usual} ${currency}`
  return (
    <div lang={LANGUAGE}>
      <Note
        tone={recommendFewer ? 'partial' : 'new'}
        icon={recommendFewer ? <IconAlertTriangle size={18} aria-hidden /> : undefined}
      >
        <p>
          <b>{words.title}.</b>{' '}
          {money === null ? words.noHistory : recommendFewer ? words.recommend(money) : words.fine(money)}
        </p>
        <ul>
          {known.map(({ network, asset, symbol, fee, feeSymbol, feeFiat, exceedsUsual }) => {
            const cost = `${fee} ${feeSymbol}${feeFiat === null ? '' : ` (${feeFiat} ${currency})`}`
            const text = words.row(symbol, NETWORKS[network].name, cost)
            return <li key={asset}>{exceedsUsual ? <b>{text}</b> : text}</li>
          })}
        </ul>
      </Note>
    </div>
  )
}
