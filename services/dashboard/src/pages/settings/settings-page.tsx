import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Settings. */
export function SettingsPage() {
  return <PlaceholderPage title="Settings" />
}
