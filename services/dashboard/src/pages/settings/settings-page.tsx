import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from 'react-router'
import { trpc } from '../../api/trpc.ts'
import { Page } from '../../parts/page.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useMay, useScope, useTo } from '../../session/scope.ts'
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
      {current === 'history' ? <History /> : <Rules key={current} section={current} />}
    </Page>
  )
}

function History() {
  const Section = useLoaded(true, async () => (await import('./history-section.tsx')).HistorySection)
  return Section === null ? <RowsSkeleton rows={5} /> : <Section />
}

/** Sections that are opened less often than the numbers, which come first. */
const SECTION_CODE = {
  confirmations: async () => (await import('./confirmations-section.tsx')).ConfirmationsSection,
  brand: async () => (await import('./brand-section.tsx')).BrandSection,
  business: async () => (await import('./business-section.tsx')).BusinessSection,
}

function Rules({ section }: { readonly section: Exclude<Section, 'history'> }) {
  const scope = useScope()
  const settings = useQuery(trpc.workspace.get.queryOptions(scope))
  const isOfNumbers = section === 'pricing' || section === 'payments'
  const Other = useLoaded(!isOfNumbers, isOfNumbers ? SECTION_CODE.business : SECTION_CODE[section])
  return (
    <QueryView query={settings} what="the settings">
      {(data) => {
        if (section === 'pricing') return <NumbersSection settings={data} fields={PRICING_FIELDS} hasArsSeries />
        if (section === 'payments') return <NumbersSection settings={data} fields={PAYMENT_FIELDS} />
        return Other === null ? <RowsSkeleton rows={5} /> : <Other settings={data} />
      }}
    </QueryView>
  )
}
