import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Overview. */
export function OverviewPage() {
  return <PlaceholderPage title="Overview" />
}
