import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { LoadError } from '../../parts/load-error.tsx'
import { Page } from '../../parts/page.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { BrandSection } from './brand-section.tsx'
import { BusinessSection } from './business-section.tsx'
import { ConfirmationsSection } from './confirmations-section.tsx'
import { HistorySection } from './history-section.tsx'
import { PAYMENT_FIELDS, PRICING_FIELDS } from './number-fields.ts'
import { NumbersSection } from './numbers-section.tsx'

const SECTIONS = {
  pricing: 'Pricing',
  payments: 'Payments',
  confirmations: 'Confirmations',
  business: 'Business and security',
  brand: 'Brand',
  history: 'History',
} as const
type Section = keyof typeof SECTIONS

/** The rules of a workspace, in sentences with their default value and effect. */
export function SettingsPage() {
  const { section } = useParams()
  const to = useTo()
  const isAdmin = useMay('admin')
  const names = (Object.keys(SECTIONS) as Section[]).filter((name) => isAdmin || name !== 'history')
  const current = names.find((name) => name === section)
  if (current === undefined) return <Navigate to={to('settings/pricing')} replace />
  const tabs = names.map((name) => ({
    label: SECTIONS[name],
    to: to(`settings/${name}`),
    current: name === current,
  }))
  return (
    <Page title="Settings" documentTitle={`${SECTIONS[current]} · Settings`} tabs={tabs}>
      {current === 'history' ? <HistorySection /> : <Rules key={current} section={current} />}
    </Page>
  )
}

function Rules({ section }: { readonly section: Exclude<Section, 'history'> }) {
  const scope = useScope()
  const settings = useQuery(trpc.workspace.get.queryOptions(scope))
  const { data } = settings
  if (data === undefined) {
    if (settings.isPending) return <RowsSkeleton rows={5} />
    return <LoadError what="the settings" error={settings.error} onRetry={() => void settings.refetch()} />
  }
  if (section === 'pricing') return <NumbersSection settings={data} fields={PRICING_FIELDS} hasArsSeries />
  if (section === 'payments') return <NumbersSection settings={data} fields={PAYMENT_FIELDS} />
  if (section === 'confirmations') return <ConfirmationsSection settings={data} />
  if (section === 'brand') return <BrandSection settings={data} />
  return <BusinessSection settings={data} />
}
