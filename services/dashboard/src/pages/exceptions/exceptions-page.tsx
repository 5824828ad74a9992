import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Exceptions. */
export function ExceptionsPage() {
  return <PlaceholderPage title="Exceptions" />
}
