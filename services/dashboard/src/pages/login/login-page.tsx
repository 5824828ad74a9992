import { PlaceholderPage } from '../../parts/placeholder-page.tsx'

/** Log in. */
export function LoginPage() {
  return <PlaceholderPage title="Log in" />
}
