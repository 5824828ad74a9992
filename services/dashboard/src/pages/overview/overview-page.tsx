import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { trpc } from '../../api/trpc.ts'
import { Page } from '../../parts/page.tsx'
import { useUrlFilters } from '../../parts/table/use-url-filters.ts'
import { ZONE } from '../../parts/time.tsx'
import { useScope } from '../../session/scope.ts'
import { AttentionStrip } from './attention-strip.tsx'
import { ChainsCard } from './chains-card.tsx'
import { Figures } from './figures.tsx'
import { FiguresAge } from './figures-age.tsx'
import { FirstSteps } from './first-steps.tsx'
import { FunnelCard } from './funnel-card.tsx'
import { VolumeCard } from './volume-card.tsx'
import { WebhooksCard } from './webhooks-card.tsx'

const FILTERS = { days: '14' }
const SPANS = [7, 14, 30, 90] as const
const SPAN_OPTIONS = SPANS.map((days) => ({ value: String(days), label: `Last ${days} days` }))

/** The front page: incoming money and problems. Each card loads separately, so that a failure affects only one. */
export function OverviewPage() {
  const scope = useScope()
  const { filters, set } = useUrlFilters(FILTERS)
  const days = SPANS.find((span) => String(span) === filters.days) ?? 14
  const input = { ...scope, days, zone: ZONE }
  // Figures follow a change some seconds later, and nothing signals that they did.
  const kept = { placeholderData: keepPreviousData, refetchInterval: 15_000 }
  const steps = useQuery(trpc.overview.firstSteps.queryOptions(scope))
  const begun = steps.data === undefined || steps.data.paid
  const volume = useQuery(trpc.overview.volume.queryOptions(input, { ...kept, enabled: begun }))
  const funnel = useQuery(trpc.overview.funnel.queryOptions(input, { ...kept, enabled: begun }))
  const webhooks = useQuery(trpc.overview.webhooks.queryOptions(scope, { refetchInterval: 15_000 }))
  const chains = useQuery(trpc.overview.chains.queryOptions(scope, { refetchInterval: 15_000 }))
  const span = (
    <NativeSelect
      aria-label="Time span"
      data={SPAN_OPTIONS}
      value={String(days)}
      onChange={({ currentTarget }) => set({ days: currentTarget.value })}
      w={150}
    />
  )
  return (
    <Page title="Overview" actions={begun ? span : null}>
      <div className="pm-stack">
        <AttentionStrip webhooks={webhooks.data} chains={chains.data} />
        {begun ? (
          <>
            {volume.data === undefined ? null : <FiguresAge asOf={volume.data.asOf} readAt={volume.dataUpdatedAt} />}
            <Figures days={days} volume={volume} funnel={funnel} webhooks={webhooks} />
            <div className="pm-overview-row">
              <VolumeCard query={volume} />
              <FunnelCard query={funnel} />
            </div>
          </>
        ) : (
          <FirstSteps done={steps.data} />
        )}
        <div className="pm-overview-row pm-overview-tables">
          <WebhooksCard query={webhooks} />
          <ChainsCard query={chains} />
        </div>
      </div>
    </Page>
  )
}
