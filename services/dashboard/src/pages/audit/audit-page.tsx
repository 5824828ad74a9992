import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** System. */
export function AuditPage() {
  return <PlaceholderPage title="System" />
}
