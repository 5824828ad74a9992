import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Explain. */
export function ExplainPage() {
  return <PlaceholderPage title="Explain" />
}
